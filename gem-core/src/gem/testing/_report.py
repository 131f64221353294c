"""What a check found, line by line, and how a line says it. Knows nothing about environments."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["CheckLine", "CheckReport", "NotApplicableError", "NotHeldError", "State"]

State = Literal["passed", "failed", "skipped"]


class NotHeldError(AssertionError):
    """A line does not hold. The text is the evidence."""


class NotApplicableError(Exception):
    """A line does not apply here. The text is the reason."""


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One claim and what became of it: figures, evidence against it, or why it was skipped."""

    name: str
    claim: str
    state: State
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Every line of the check of one environment."""

    env_id: str
    lines: tuple[CheckLine, ...]

    @property
    def is_good(self) -> bool:
        """Whether no line failed."""
        return not self.failures

    @property
    def failures(self) -> tuple[CheckLine, ...]:
        """The lines that failed."""
        return tuple(line for line in self.lines if line.state == "failed")

    def plain(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        lines = [asdict(line) for line in self.lines]
        return {"env_id": self.env_id, "is_good": self.is_good, "lines": lines}

    def to_json(self) -> str:
        """Return the report as one line of ASCII JSON."""
        return json.dumps(self.plain())
