"""Two episodes side by side, turn by turn. Knows nothing about how they were chosen."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from gem_eval.viewing.conversation import TurnView
from gem_eval.viewing.episodes import EpisodeView, read_episode
from gem_eval.viewing.runs import Run
from gem_eval.viewing.scanning import TURNS_AT_ONCE

__all__ = ["Beside", "BesideTurn", "read_beside"]


class BesideTurn(NamedTuple):
    """A turn of both, from 1. None stands for the one that had ended."""

    number: int
    first: TurnView | None
    second: TurnView | None

    @property
    def is_same(self) -> bool:
        """Whether both saw, answered and got the same."""
        if self.first is None or self.second is None:
            return False
        return _seen(self.first) == _seen(self.second)


class Beside(NamedTuple):
    """Two episodes with some of their turns, and the first of these in which they part.

    `parting` counts from 1, and is None where what both answered is the same as far as it is shown.
    """

    runs: tuple[Run, Run]
    views: tuple[EpisodeView, EpisodeView]
    turns: tuple[BesideTurn, ...]
    parting: int | None

    @property
    def same(self) -> int:
        """How many of the turns are the same."""
        return sum(turn.is_same for turn in self.turns)


def read_beside(runs: tuple[Run, Run], lines: tuple[int, int], turn: int = 1) -> Beside | None:
    """Return two episodes with the turns around one. None where either is not there.

    Raises OSError and ValueError as `read_episode` does.
    """
    views = []
    for run, line in zip(runs, lines, strict=True):
        view = read_episode(run.folder.episodes_path, run.index, line, turn)
        if view is None:
            return None
        views.append(view)
    most = max(view.row.turns for view in views)
    start = (min(max(turn, 1), max(most, 1)) - 1) // TURNS_AT_ONCE * TURNS_AT_ONCE + 1
    # Of an episode that is shorter than that, other turns were read.
    shown = [view.turns if view.first == start else () for view in views]
    turns = tuple(
        BesideTurn(number, first, second)
        for number, (first, second) in enumerate(zip_longest(*shown), start=start)
    )
    parting = next((each.number for each in turns if _is_parting(each)), None)
    return Beside(runs, (views[0], views[1]), turns, parting)


def _is_parting(turn: BesideTurn) -> bool:
    if turn.first is None or turn.second is None:
        return True
    return turn.first.answer != turn.second.answer


def _seen(turn: TurnView) -> tuple[object, ...]:
    """Return what a page that compares shows of a turn."""
    return (turn.heard, turn.answer, turn.calls, turn.reward, turn.problem)
