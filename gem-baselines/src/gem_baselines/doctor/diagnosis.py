"""Let every check look at a run. Knows no rule and no format of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gem.errors import in_one_line
from gem_baselines.doctor.finding import Check, Finding
from gem_baselines.doctor.rules import CHECKS
from gem_baselines.doctor.run import Run
from gem_baselines.errors import DAMAGED, FolderError

__all__ = ["Diagnosis", "diagnosed"]

_ORDER = ("wrong", "suspect", "note")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is wrong with a run, what is well, and what could not be looked at.

    `well` has the checks that found nothing, with what they look for; `unchecked` says of each of
    the others what it would need.
    """

    run: Run
    findings: Sequence[Finding]
    well: Mapping[str, str]
    unchecked: Mapping[str, str]

    @property
    def is_healthy(self) -> bool:
        """Whether there is nothing but notes."""
        return all(finding.severity == "note" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "run": str(self.run.path),
            "kind": self.run.kind,
            "healthy": self.is_healthy,
            "findings": [finding.to_json() for finding in self.findings],
            "well": dict(self.well),
            "unchecked": dict(self.unchecked),
            "unreadable": dict(self.run.unreadable),
        }


def diagnosed(run: Run, checks: Sequence[Check] = CHECKS) -> Diagnosis:
    """Look at a run by every check. The same run has the same findings.

    Raises FolderError where a check cannot reckon with what the run holds.
    """
    findings: list[Finding] = []
    well: dict[str, str] = {}
    unchecked: dict[str, str] = {}
    for check in checks:
        try:
            lacking = check.lacks(run)
            found = [] if lacking else list(check.rule(run))
        except DAMAGED as error:
            raise FolderError(
                f"The check {check.name} was to look at {run.path}, and what it found there is not "
                f"as a training writes it ({in_one_line(error)}). If no file there was edited or "
                "is damaged, report this as a fault of the check.",
                path=run.path,
            ) from error
        if lacking:
            unchecked[check.name] = lacking
        elif found:
            findings += found
        else:
            well[check.name] = check.summary
    findings.sort(key=lambda finding: _ORDER.index(finding.severity))
    return Diagnosis(run, findings, well, unchecked)
