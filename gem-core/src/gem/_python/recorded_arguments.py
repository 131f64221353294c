"""Record keyword arguments as JSON data; a live object becomes a note of its type.

Knows nothing about what the arguments are for, or whether they fit (`arguments`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel

from gem.errors import OpaqueError

__all__ = ["is_opaque", "recorded", "refuse_opaque"]

_OPAQUE = "$opaque"
_MAX_RECORDED = 64 * 1024  # characters of one argument


def recorded(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return `kwargs` as JSON data; a live or very large object becomes a note of its type.

    The cost has a bound: a table of a million rows is not walked to its end.
    """
    return {name: _recorded(value) for name, value in kwargs.items()}


def _recorded(value: Any) -> Any:
    try:
        return _JsonBudget(_MAX_RECORDED).data(value)
    except _LIVE:
        return {_OPAQUE: f"{type(value).__module__}.{type(value).__qualname__}"}


class _NotPlainError(Exception):
    """A value is no JSON data, or too much of it."""


_LIVE = (_NotPlainError, ValueError, RecursionError)


class _JsonBudget:
    """Turn values into JSON data until a budget of characters is spent, then raise.

    It counts what is written, about, as it walks: a value that is far too large, or that holds
    itself, ends after the budget, and not at its own end.
    """

    def __init__(self, characters: int) -> None:
        self._left = characters

    def data(self, value: Any) -> Any:
        self._spend(2)  # also for an empty list: a list of a million of them is large
        if value is None or isinstance(value, bool):
            return value
        # Before strings and ints: an enum's member may be one of them, too.
        if isinstance(value, Enum):
            return self.data(value.value)
        if isinstance(value, str):
            self._spend(len(value))
            return str(value)
        if isinstance(value, int):
            self._spend(len(str(value)))
            return int(value)
        if isinstance(value, float) and abs(value) < float("inf"):
            self._spend(8)
            return float(value)
        if isinstance(value, PurePath):
            return self.data(str(value))
        if isinstance(value, BaseModel):
            return self.data(dict(value))
        if is_dataclass(value) and not isinstance(value, type):
            return self.data({field.name: getattr(value, field.name) for field in fields(value)})
        if isinstance(value, Mapping):
            return {self._key(key): self.data(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.data(item) for item in value]
        raise _NotPlainError

    def _key(self, key: object) -> str:
        if not isinstance(key, str):
            raise _NotPlainError
        self._spend(len(key) + 2)
        return str(key)

    def _spend(self, characters: int) -> None:
        self._left -= characters
        if self._left < 0:
            raise _NotPlainError


def is_opaque(value: object) -> bool:
    """Say whether a recorded argument only notes the type of a live object."""
    return isinstance(value, Mapping) and _OPAQUE in value


def refuse_opaque(kwargs: Mapping[str, Any], *, subject: str) -> None:
    """Raise OpaqueError if these recorded arguments stand for live objects."""
    for name, value in kwargs.items():
        if is_opaque(value):
            raise OpaqueError(
                f"{subject} was made with a live {value[_OPAQUE]} as {name!r}, which its record "
                f"does not hold. Make it again and pass {name}= yourself.",
                argument=name,
            )
