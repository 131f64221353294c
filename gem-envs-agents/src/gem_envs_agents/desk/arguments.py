"""Compare the arguments of a call with what a tool takes. Knows nothing about tools' work.

A tool's parameters are a small part of JSON Schema: strings, integers, numbers, arrays and
objects, with `enum`. Every argument is bounded, so that no call can cost more than a page of text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Schema", "arguments_schema", "problem"]

Schema = Mapping[str, Any]

_LONGEST_TEXT = 2_000  # characters
_LONGEST_LIST = 50
_LARGEST = 1_000_000


def arguments_schema(parameters: Mapping[str, Schema]) -> dict[str, Any]:
    """Return the JSON schema of a call: an object of these parameters, all of them needed."""
    return {
        "type": "object",
        "properties": dict(parameters),
        "required": list(parameters),
        "additionalProperties": False,
    }


def problem(parameters: Mapping[str, Schema], arguments: Any) -> str | None:
    """Return what is wrong with the arguments of a call, None where nothing is.

    >>> problem({"n": {"type": "integer"}}, {"n": 1.5, "k": 2})
    "n is not of the type integer; there is no argument 'k'"
    """
    found = list(_of_object("", parameters, arguments))
    return "; ".join(found[:5]) or None


def _of_object(path: str, properties: Mapping[str, Schema], value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{path or 'what was given'} is no object"
        return
    for name, schema in properties.items():
        if name not in value:
            yield f"{path}{name} is missing"
        else:
            yield from _of_value(f"{path}{name}", schema, value[name])
    for name in value:
        if name not in properties:
            yield f"there is no argument {f'{path}{name}'!r:.60}"


def _of_value(path: str, schema: Schema, value: Any) -> Iterator[str]:
    kind = schema["type"]
    if kind == "object":
        yield from _of_object(f"{path}.", schema["properties"], value)
    elif not _is_of_type(kind, value):
        yield f"{path} is not of the type {kind}"
    elif kind == "array":
        yield from _of_array(path, schema, value)
    elif kind == "string" and len(value) > _LONGEST_TEXT:
        yield f"{path} is longer than {_LONGEST_TEXT} characters"
    elif kind in ("integer", "number") and not 0 <= value <= _LARGEST:
        yield f"{path} is not between 0 and {_LARGEST}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{path} is none of {', '.join(map(repr, schema['enum']))}"


def _of_array(path: str, schema: Schema, value: list[Any]) -> Iterator[str]:
    if not value:
        yield f"{path} is empty"
    if len(value) > _LONGEST_LIST:
        yield f"{path} has more than {_LONGEST_LIST} entries"
        return
    for place, each in enumerate(value):
        yield from _of_value(f"{path}[{place}]", schema["items"], each)


def _is_of_type(kind: str, value: Any) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "array":
        return isinstance(value, list)
    # True is an int to Python, and no number to JSON.
    if isinstance(value, bool):
        return False
    if kind == "integer":
        return isinstance(value, int)
    return isinstance(value, (int, float)) and math.isfinite(value)
