"""What became of each test of a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Outcome", "Report", "Verdict"]

Verdict = Literal["passed", "wrong", "error", "timeout", "memory", "not_run"]
"""One test's: right; not what was expected; raised or was killed; took too long; took too much
memory; or came after the one that decided."""

_MOST_WHY = 500


class Outcome(NamedTuple):
    """One test's verdict, and in a few words why it was not passed."""

    verdict: Verdict
    why: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of every test, in order. Only `passed` counts for a program.

    `shared_process` says that tests ran in one process with the program, because their values
    could not leave it: a program that means to can deceive such a test.
    """

    outcomes: Sequence[Outcome]
    shared_process: bool = False

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict of each test."""
        return [outcome.verdict for outcome in self.outcomes]

    @property
    def num_passed(self) -> int:
        """How many tests were passed."""
        return self.verdicts.count("passed")

    @property
    def success(self) -> bool:
        """Whether all of them were."""
        return self.num_passed == len(self.outcomes)

    @property
    def why(self) -> str:
        """Why the first test that was not passed was not; empty where all were."""
        why = next((outcome.why for outcome in self.outcomes if outcome.verdict != "passed"), "")
        return why[:_MOST_WHY]  # a program can forge its own words, and they go into records
