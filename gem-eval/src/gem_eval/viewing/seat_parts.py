"""One seat's part of an episode as a page shows it, and turns by rounds.

What a seat saw and earned is what `Episode.of_seat` says: nothing is worked out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gem.content import observation_to_json
from gem.episode import Episode, Turn
from gem_eval.errors import ViewError
from gem_eval.viewing.conversation import TurnView, tools_text, view_of

__all__ = ["SeatPart", "part_in", "rounds_of"]

_LONGEST = 32 << 20
"""Bytes of a line of which one seat's part is shown: a part is made of the whole episode."""


class SeatPart(NamedTuple):
    """The turns of a seat, each with its number among all turns. `final` is as in a log."""

    turns: tuple[tuple[int, Turn], ...]
    final: Any
    error: str | None

    @property
    def curve(self) -> list[tuple[int, float]]:
        """The return so far after each of its turns, by the turn's number among all."""
        so_far = 0.0
        points = []
        for number, turn in self.turns:
            so_far += turn.reward
            points.append((number, so_far))
        return points

    def turns_from(self, first: int, count: int) -> list[TurnView]:
        """Return those of so many turns of the episode that are of this seat."""
        views = []
        so_far = 0.0
        tool_text = None
        for number, turn in self.turns:
            if first <= number < first + count:
                views.append(view_of(turn, number, (so_far,), tool_text))
            so_far += turn.reward
            tool_text = tools_text(turn)
        return views


def part_in(line: bytes, seat: int) -> SeatPart:
    """Return the part of a seat of the episode in a line of a log.

    Raises ValueError on a line that is no episode, ViewError on one too long to be taken apart.
    """
    if len(line) > _LONGEST:
        raise ViewError(
            f"One seat of the episode was to be shown, and its line has {len(line):,} bytes. "
            "Look at all seats together."
        )
    episode = Episode.from_json(line)
    part = episode.of_seat(seat)
    numbers = [
        number for number, turn in enumerate(episode.played_turns, start=1) if turn.seat == seat
    ]
    final = part.final_observation
    return SeatPart(
        tuple(zip(numbers, part.turns, strict=True)),
        None if final is None else observation_to_json(final),
        part.error,
    )


def rounds_of(turns: Sequence[TurnView]) -> list[list[TurnView]]:
    """Return turns in groups: of a round together, every other one by itself.

    A round goes on while one of the seats that were asked with the last answer has not given its
    own; calls of tools on the way are turns of it, too.
    """
    groups: list[list[TurnView]] = []
    waiting: set[int] = set()
    for turn in turns:
        if turn.seat in waiting:
            groups[-1].append(turn)
        else:
            groups.append([turn])
            waiting = set()
        if turn.waiting:
            waiting = {*turn.waiting}
        elif not turn.calls:
            waiting.discard(turn.seat)
    return groups
