"""Let finders look at episodes, each behind a guard: one that fails is named, the others go on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from gem.cli import one_line
from gem.episode import Episode
from gem.errors import in_one_line
from gem_eval.finding.evidence import found_by
from gem_eval.finding.finder import Finding
from gem_eval.finding.installed import InstalledFinder, chosen

__all__ = ["Failure", "Inspector", "findings"]


@dataclass(slots=True)
class Failure:
    """A finder that raised, or found what is no finding: at how many episodes, and how first."""

    finder: str
    distribution: str
    where: str
    error: str
    times: int = 1

    def __str__(self) -> str:
        often = f" and at {self.times - 1:,} more" if self.times > 1 else ""
        return (
            f"The finder {self.finder} of {self.distribution} failed at {self.where}{often}, and "
            f"was left out there: {self.error}."
        )


class Inspector:
    """Finders at work. `failures` has those that failed so far."""

    def __init__(self, finders: Sequence[InstalledFinder]) -> None:
        self._finders = finders
        self._failures: dict[str, Failure] = {}

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What failed, each finder once."""
        return tuple(self._failures.values())

    def findings(self, episode: Episode, *, where: str = "the episode") -> list[Finding]:
        """Return what is odd in an episode. `where` names it, should a finder fail there."""
        return [finding for found in self.by_seat(episode, where=where) for finding in found]

    def by_seat(self, episode: Episode, *, where: str = "the episode") -> list[list[Finding]]:
        """Return what is odd in each seat's part; of one seat in the episode.

        A finding's turn is that of the whole episode; its evidence counts the seat's own turns.
        """
        if len(episode.seats) < 2:
            return [self._found(episode, where)]
        found = []
        for seat, part in enumerate(episode.parts()):
            numbers = [n for n, turn in enumerate(episode.played_turns) if turn.seat == seat]
            at = f"at the seat {part.seats[0].name}, by its own turns: "
            found.append(
                [
                    finding._replace(
                        turn=None if finding.turn is None else numbers[finding.turn],
                        evidence=one_line(f"{at}{finding.evidence}"),
                    )
                    for finding in self._found(part, where)
                ]
            )
        return found

    def _found(self, episode: Episode, where: str) -> list[Finding]:
        found: list[Finding] = []
        for finder, distribution in self._finders:
            try:
                found += found_by(finder, episode)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's rule may raise anything
                self._note(finder.id, distribution, where, error)
        return found

    def _note(self, finder: str, distribution: str, where: str, error: BaseException) -> None:
        known = self._failures.get(finder)
        if known is not None:
            known.times += 1
            return
        text = one_line(in_one_line(error, at_most=300))
        self._failures[finder] = Failure(finder, distribution, where, text)


def findings(episode: Episode, *, finders: Sequence[str] | None = None) -> list[Finding]:
    """Return what is odd in an episode, by every installed finder or by those with these ids.

    A finder that fails is left out, with a RuntimeWarning that names it. Raises FindError on an id
    that no finder has.

        for finding in gem_eval.findings(episode):
            print(finding.finder, finding.turn, finding.evidence)
    """
    inspector = Inspector(chosen(finders))
    found = inspector.findings(episode)
    for failure in inspector.failures:
        warnings.warn(str(failure), RuntimeWarning, stacklevel=2)
    return found
