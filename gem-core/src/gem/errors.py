"""What can go wrong, as one tree. Every class carries its facts as fields, not only as text.

GemError
├── UnknownId              no installed plugin provides this id
│   ├── UnknownEnv         a ValueError as well
│   ├── UnknownWrapper
│   ├── UnknownPolicy
│   └── UnknownTool
├── IdConflict             two distributions claim one id
├── MissingRequirement     a spec needs a package that is not installed
├── TargetError            a target string names nothing that can be imported
├── BadArguments           arguments that the target does not take, or of the wrong type
├── WrapperOrderError      wrappers in an order that cannot work
├── OpaqueError            a stack holds a live object, so it cannot be rebuilt from its spec
├── EnvUsageError          an environment used out of turn
│   ├── ResetNeeded        step before the first reset, or after the end
│   ├── EnvBusy            a second call while one is running
│   └── EnvClosed          a call after close
├── SnapshotError          state that cannot be saved, or does not fit
├── DataError              an environment's data is absent or malformed
├── ModelLengthError       a prompt that does not fit the model's context; a policy raises it
└── LogError               a log of episodes cannot be read or written

Each message has three parts: what was asked, what is true, what to do next.
"""

from __future__ import annotations

import copyreg
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError

__all__ = [
    "BadArguments",
    "DataError",
    "EnvBusy",
    "EnvClosed",
    "EnvUsageError",
    "GemError",
    "IdConflict",
    "LogError",
    "MissingRequirement",
    "ModelLengthError",
    "OpaqueError",
    "ResetNeeded",
    "SnapshotError",
    "TargetError",
    "UnknownEnv",
    "UnknownId",
    "UnknownPolicy",
    "UnknownTool",
    "UnknownWrapper",
    "WrapperOrderError",
    "in_one_line",
    "problems_of",
    "text_of",
    "traceback_of",
]

_MAX_TEXT = 10_000  # characters; a record of thousands of failures must stay readable


class GemError(Exception):
    """Any error that this package raises on purpose; its text is one line for a person.

    It can be pickled, with its fields: a pool of processes hands it to its parent.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        # Made again without `__init__`, which may want its fields by keyword: pickle gives none.
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class UnknownId(GemError):
    """No installed plugin provides this id. Carries the nearest ids that exist."""

    kind = "id"

    def __init__(self, message: str, *, id: str, suggestions: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.id = id
        self.suggestions = tuple(suggestions)


class UnknownEnv(UnknownId, ValueError):
    """No installed plugin provides this environment. A ValueError too, as it once was."""

    kind = "environment"


class UnknownWrapper(UnknownId):
    """No installed plugin provides this wrapper."""

    kind = "wrapper"


class UnknownPolicy(UnknownId):
    """No installed plugin provides this policy."""

    kind = "policy"


class UnknownTool(UnknownId):
    """No installed plugin provides this tool."""

    kind = "tool"


class IdConflict(GemError):
    """Two distributions claim one id, and choosing for the user would be a guess."""

    def __init__(self, message: str, *, id: str, distributions: Sequence[str]) -> None:
        super().__init__(message)
        self.id = id
        self.distributions = tuple(distributions)


class MissingRequirement(GemError):
    """A spec needs packages that are absent or too old. `command` installs them."""

    def __init__(self, message: str, *, requirements: Sequence[str], command: str) -> None:
        super().__init__(message)
        self.requirements = tuple(requirements)
        self.command = command


class TargetError(GemError):
    """A `module:attribute` string names nothing that can be imported."""

    def __init__(self, message: str, *, target: str) -> None:
        super().__init__(message)
        self.target = target


class BadArguments(GemError):
    """Arguments that a target does not take. `problems` has one line for each of them."""

    def __init__(self, message: str, *, subject: str, problems: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.subject = subject
        self.problems = tuple(problems)


class WrapperOrderError(GemError):
    """Wrappers in an order that cannot work. Carries the order that was asked for."""

    def __init__(self, message: str, *, wrappers: Sequence[str]) -> None:
        super().__init__(message)
        self.wrappers = tuple(wrappers)


class OpaqueError(GemError):
    """A stack was made with a live object that its spec cannot carry elsewhere."""

    def __init__(self, message: str, *, argument: str) -> None:
        super().__init__(message)
        self.argument = argument


class EnvUsageError(GemError):
    """An environment was called out of turn. The episode that was running is unharmed."""


class ResetNeeded(EnvUsageError):
    """`step` came before the first `reset`, or after the episode's end: call `reset` first."""


class EnvBusy(EnvUsageError):
    """A second call came while one was running: an instance takes one call at a time."""


class EnvClosed(EnvUsageError):
    """The environment was closed: make another one."""


class SnapshotError(GemError):
    """State that cannot be saved as plain data, or that does not fit this environment."""

    def __init__(self, message: str, *, attribute: str | None = None) -> None:
        super().__init__(message)
        self.attribute = attribute


class DataError(GemError):
    """An environment's data is absent or malformed. Rows count from 1."""

    def __init__(
        self,
        message: str,
        *,
        source: str,
        row: int | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(message)
        self.source = source
        self.row = row
        self.field = field


class ModelLengthError(GemError):
    """A prompt does not fit the model's context.

    A policy raises it, and its episode ends as `model_length`: a failure to solve the task, and
    no error.
    """


class LogError(GemError):
    """A log of episodes cannot be read or written. What it already holds is unharmed."""

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.path = path


def in_one_line(error: BaseException, *, at_most: int | None = None) -> str:
    r"""Return any error's type and text as one line, even where its own text fails.

    `at_most` cuts it to that many characters.

    >>> in_one_line(ValueError("first\nsecond"))
    'ValueError: first second'
    """
    # SystemExit too: an error's `__str__` is anybody's code, and must not end the program.
    try:
        text = str(error)
    except (Exception, SystemExit):  # noqa: BLE001  the author of an error may have erred too
        text = "(its text cannot be shown)"
    return " ".join(f"{type(error).__name__}: {text}".split())[:at_most]


def text_of(error: BaseException) -> str:
    """Return any error's type and text as a record keeps it, cut at ten thousand characters."""
    try:
        text = "".join(traceback.format_exception_only(type(error), error)).strip()
    except Exception:  # noqa: BLE001  a SyntaxError or a note that Python cannot format, say
        text = in_one_line(error)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}..."


def problems_of(error: ValidationError, *, whole: str = "all of it") -> list[str]:
    """Return what pydantic found wrong with data, a line each: the field, or `whole`, and why.

    >>> from pydantic import TypeAdapter, ValidationError
    >>> try:
    ...     TypeAdapter(dict[str, int]).validate_python({"size": "x"}, strict=True)
    ... except ValidationError as error:
    ...     problems_of(error)
    ['size: Input should be a valid integer']
    """
    # Without the input: it may be a model's text, or a whole table.
    details = error.errors(include_url=False, include_context=False, include_input=False)
    lines = []
    for detail in details:
        field = ".".join(map(str, detail["loc"]))
        lines.append(f"{field or whole}: {detail['msg']}")
    return lines


def traceback_of(error: BaseException) -> str:
    """Return any error's whole traceback as text, even where Python cannot format it."""
    try:
        return "".join(traceback.format_exception(error))
    except Exception:  # noqa: BLE001  as above
        frames = "".join(traceback.format_tb(error.__traceback__))
        return f"Traceback (most recent call last):\n{frames}{in_one_line(error)}\n"
