"""What can go wrong while a policy learns, beyond core's own errors.

GemError
├── ExperimentError    settings of an experiment that cannot be
├── FolderError        a training folder or a checkpoint that cannot be written or read
└── TrainingStopped    a training that cannot go on; its last checkpoint is unharmed
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic_core import ErrorDetails

from gem.errors import GemError
from gem.registry import near

__all__ = [
    "DAMAGED",
    "ExperimentError",
    "FolderError",
    "TrainingStopped",
    "did_you_mean",
    "rule_of",
    "validator_words",
]


DAMAGED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What it raises to read data, or to reckon with it, that is not as a training wrote it."""


def validator_words(problem: ErrorDetails) -> str | None:
    """Return what a validator of ours said of a value; None where pydantic itself refused it."""
    return str(problem["ctx"]["error"]) if problem["type"] == "value_error" else None


def rule_of(problem: ErrorDetails) -> str:
    """Return what pydantic asks of a value, to follow its name.

    >>> from pydantic import TypeAdapter, ValidationError
    >>> try:
    ...     TypeAdapter(int).validate_python("x", strict=True)
    ... except ValidationError as error:
    ...     rule_of(error.errors()[0])
    'has to be a valid integer'
    """
    return problem["msg"].replace("Input should be", "has to be", 1)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a sentence that offers the known name most like this one, and a blank; or "".

    >>> did_you_mean("rebm", ["rebn", "grpo"])
    "Did you mean 'rebn'? "
    """
    alike = near(name, list(known))
    return f"Did you mean {alike[0]!r}? " if alike else ""


class ExperimentError(GemError):
    """Settings of an experiment that cannot be. `setting` is the one at fault."""

    def __init__(self, message: str, *, setting: str) -> None:
        super().__init__(message)
        self.setting = setting


class FolderError(GemError):
    """A training folder, or a checkpoint, cannot be written or read."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path


class TrainingStopped(GemError):
    """A training cannot go on. `update` is the one that failed; all before it are kept."""

    def __init__(self, message: str, *, update: int) -> None:
        super().__init__(message)
        self.update = update
