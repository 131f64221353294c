"""Plain values as JSON and back: what may cross from one jail to another.

JSON's own values stand for themselves, all others for an object with one key, their kind. What
comes back has Python's own types and no others, whatever was sent: no method of a candidate is
ever called where its values are compared.
"""

from __future__ import annotations

import collections
import importlib
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["CannotCrossError", "decoded", "encoded"]

_DEEPEST = 100
_LONG_INT_BITS = 8192  # longer ones would meet the limit on conversions to decimal
_KEYS: type = type({}.keys())
_TYPES = {
    each.__name__: each
    for each in (bool, bytes, complex, dict, float, frozenset, int, list, set, str, tuple)
}


class CannotCrossError(TypeError):
    """A value that is more than data: a function, an instance of a class, an iterator."""


def encoded(value: object) -> str:
    """Return a value as JSON text, in ASCII.

    Instances of subclasses become what they extend. Raises CannotCrossError on what is no plain
    value, or is nested deeper than a hundred levels.
    """
    return json.dumps(_plain(value, 0))


def decoded(text: str) -> Any:
    """Return the value that `encoded` wrote. Raises ValueError on anything else."""
    try:
        return _value(json.loads(text))
    except (TypeError, LookupError, RecursionError, ArithmeticError) as error:
        raise ValueError(f"these are no plain values: {type(error).__name__}") from error


def _plain(value: Any, depth: int) -> Any:
    if value is None or value is True or value is False:
        return value
    if depth > _DEEPEST:
        raise CannotCrossError(f"it is nested deeper than {_DEEPEST} levels")
    for kind, plain in _WRITERS:
        if isinstance(value, kind):
            return plain(value, depth + 1)
    for module, name in _RARE:
        if module in sys.modules and isinstance(value, getattr(sys.modules[module], name)):
            return {module: str(value)}
    if type(value).__module__ == "numpy" and not getattr(value, "shape", None):
        return _plain(value.item(), depth + 1)
    raise CannotCrossError(f"a {type(value).__name__} is no plain value")


def _int(value: int, depth: int) -> Any:
    value = int(value)
    return {"int": hex(value)} if value.bit_length() > _LONG_INT_BITS else value


def _type(value: type) -> Any:
    if value not in _TYPES.values():
        raise CannotCrossError(f"the type {value.__name__} is none of Python's plain ones")
    return {"type": value.__name__}


def _items(kind: str) -> Callable[[Any, int], Any]:
    return lambda value, depth: {kind: [_plain(item, depth) for item in value]}


def _dict(value: dict[Any, Any], depth: int) -> Any:
    return {"dict": [[_plain(key, depth), _plain(item, depth)] for key, item in value.items()]}


_WRITERS: tuple[tuple[Any, Callable[[Any, int], Any]], ...] = (
    (str, lambda value, depth: str.__str__(value)),
    (int, _int),
    (float, lambda value, depth: float(value)),
    (list, lambda value, depth: [_plain(item, depth) for item in value]),
    (tuple, _items("tuple")),
    (dict, _dict),
    (frozenset, _items("frozenset")),
    ((set, _KEYS), _items("set")),
    (bytes, lambda value, depth: {"bytes": bytes(value).hex()}),
    (bytearray, lambda value, depth: {"bytearray": bytes(value).hex()}),
    (complex, lambda value, depth: {"complex": [value.real, value.imag]}),
    (range, lambda value, depth: {"range": [value.start, value.stop, value.step]}),
    (collections.deque, _items("deque")),
    (type, lambda value, depth: _type(value)),
)

_RARE = (("decimal", "Decimal"), ("fractions", "Fraction"))
"""Written as text, and imported only where they are used: that takes longer than most tests."""


def _rare(module: str, name: str, text: str) -> Any:
    return getattr(importlib.import_module(module), name)(text)


_READERS: dict[str, Callable[[Any], Any]] = {
    "int": lambda held: int(held, 16),
    "tuple": lambda held: tuple(map(_value, held)),
    "dict": lambda held: {_value(key): _value(item) for key, item in held},
    "frozenset": lambda held: frozenset(map(_value, held)),
    "set": lambda held: set(map(_value, held)),
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "complex": lambda held: complex(*map(float, held)),
    "range": lambda held: range(*map(int, held)),
    "type": lambda held: _TYPES[held],
    "deque": lambda held: collections.deque(map(_value, held)),
    **{module: partial(_rare, module, name) for module, name in _RARE},
}


def _value(held: Any) -> Any:
    if type(held) is list:
        return [_value(item) for item in held]
    if type(held) is dict:
        if len(held) != 1:
            raise ValueError("an object must have one key, a kind of value")
        [(kind, inner)] = held.items()
        if kind not in _READERS:
            raise ValueError(f"{kind!r} is no kind of plain value")
        return _READERS[kind](inner)
    return held
