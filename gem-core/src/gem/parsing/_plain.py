"""Make plain JSON data of what a policy wrote, within bounds. Knows nothing about formats."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from gem.content import is_shallow, normalise_text

__all__ = ["NotPlainError", "json_at", "named_call", "plain", "read_json"]

_MAX_DIGITS = 300  # of an int; such a one has fewer bits than the next line allows
_MAX_BITS = 1024
_NOT_FINITE = "a number in it is too large, or infinite or NaN, which JSON does not have"
_SPACE = re.compile(r"\s*")


class NotPlainError(ValueError):
    """The text cannot be read, or holds what JSON data does not."""


def read_json(text: str) -> Any:
    """Return the JSON data of a text. Raises NotPlainError with the reason.

    Text within JSON's strings may hold line breaks as they are. What other readers take in more
    than one way is refused: NaN and infinities, a name that appears twice, very long numbers.
    """
    written = text.strip()
    data, end = json_at(written, 0)
    if end < len(written):
        raise NotPlainError(f"it is not JSON alone: more follows its character {end}")
    return data


def json_at(text: str, at: int) -> tuple[Any, int]:
    """Return the JSON data that begins at a place, and where it ends. As `read_json` otherwise."""
    blank = _SPACE.match(text, at)
    begin = at if blank is None else blank.end()
    try:
        data, end = _DECODER.raw_decode(text, begin)
        return plain(data), end
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise NotPlainError(f"it is not JSON: {error.msg} at {place}") from error
    except RecursionError as error:
        raise NotPlainError("it is nested too deep") from error


def plain(value: Any) -> Any:
    """Return a copy without lone surrogates. Raises NotPlainError on what is no JSON data."""
    # Before it is walked: the walk below goes as deep as the value does.
    if not is_shallow(value):
        raise NotPlainError("it is nested too deep")
    return _copied(value)


def named_call(data: Any) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of `{"name": ..., "arguments": {...}}`."""
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise NotPlainError('it is not an object with a "name" and "arguments"')
    arguments = data.get("arguments", {})
    if not isinstance(arguments, dict):
        raise NotPlainError('its "arguments" are not an object')
    return data["name"], arguments


def _copied(value: Any) -> Any:
    if isinstance(value, str):
        return normalise_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= _MAX_BITS else _refuse("a number in it is too long")
    if isinstance(value, float):
        return value if math.isfinite(value) else _refuse(_NOT_FINITE)
    if isinstance(value, (list, tuple)):
        return [_copied(item) for item in value]
    if isinstance(value, dict):
        return {_key(key): _copied(item) for key, item in value.items()}
    return _refuse(f"it holds a {type(value).__name__}, which JSON does not have")


def _key(key: object) -> str:
    return normalise_text(key) if isinstance(key, str) else _refuse("a key in it is no text")


def _refuse(reason: str) -> Any:
    raise NotPlainError(reason)


def _bounded_int(text: str) -> int:
    # Reading takes quadratic time, on some versions without a limit.
    return int(text) if len(text) <= _MAX_DIGITS else _refuse("a number in it is too long")


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for name, value in pairs:
        # One reader takes the first of two, another the last: neither is what was meant.
        if name in data:
            _refuse(f"the name {name!r:.60} appears twice in it")
        data[name] = value
    return data


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_bounded_int,
    parse_constant=lambda name: _refuse(f"{name} is not JSON"),
    strict=False,
)
