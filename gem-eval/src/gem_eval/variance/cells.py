"""Play the episodes of a run cell by cell: those that the same seeds of two players play.

An ordinary run is one cell. Knows nothing about what is scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from gem.episode import Episode
from gem.rollouts import PlannedEpisode
from gem_eval.policies.answer_cache import AnswerCache
from gem_eval.run_folder import RunFolder
from gem_eval.variance.record import NoiseRecord
from gem_eval.variance.seeded import Seeded

__all__ = ["Cell", "Cells"]


class Cell:
    """Episodes of a plan that are played together, as their policies know them."""

    def __init__(self, missing: Sequence[PlannedEpisode]) -> None:
        self.plan = missing

    def seated(self, policies: Any) -> Any:
        """Return who sits where, as `gem.rollout` takes it."""
        return policies

    def recorded(self, episode: Episode) -> Episode:
        """Return an episode as the run records it."""
        return episode


class _OfSeeds(Cell):
    """The episodes that one seed of each of two players plays.

    They are all played as the first repeat, so that a request differs from that of another cell by
    the number of its player alone; in the record they have the repeat of the plan.
    """

    def __init__(
        self, missing: Sequence[PlannedEpisode], design: NoiseRecord, answers: AnswerCache
    ) -> None:
        super().__init__([planned._replace(repeat=0) for planned in missing])
        self._repeat = missing[0].repeat
        self._numbers = dict(zip(design.seats, design.seeds_of(self._repeat), strict=True))
        self._answers = answers

    def seated(self, policies: Mapping[str, Any]) -> Any:
        return {
            seat: Seeded(policy, self._numbers[seat], self._answers)
            for seat, policy in policies.items()
        }

    def recorded(self, episode: Episode) -> Episode:
        return replace(episode, repeat=self._repeat)


class Cells:
    """The cells of a run. Where two players are crossed, it holds their answers until `close`."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._answers: AnswerCache | None = None

    def of(self, missing: Sequence[PlannedEpisode]) -> Iterator[Cell]:
        """Yield the cells of what is missing, one after another: two of one player never meet."""
        design = self._folder.record.noise
        if design is None or not design.seats:
            # One player alone: each repeat has chance of its own.
            yield Cell(missing)
            return
        if self._answers is None:
            self._answers = AnswerCache(self._folder.path)
        by_repeat = sorted(missing, key=_repeat)
        for _, group in groupby(by_repeat, _repeat):
            yield _OfSeeds(list(group), design, self._answers)

    def close(self) -> None:
        """Let go of the answers."""
        if self._answers is not None:
            self._answers.close()


def _repeat(planned: PlannedEpisode) -> int:
    return planned.repeat
