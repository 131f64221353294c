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
from typing import Any

__all__ = ["CannotCrossError", "TooDeepError", "decoded", "encoded", "plain", "revived"]

_DEEPEST = 100
_LONG_INT_BITS = 8192  # longer ones would meet the limit on conversions to decimal
_KEYS: type = type({}.keys())
_VALUES: type = type({}.values())
_ITEMS: type = type({}.items())
_TYPES = {
    kind.__name__: kind
    for kind in (bool, bytes, complex, dict, float, frozenset, int, list, set, str, tuple)
}


class CannotCrossError(TypeError):
    """A value that is more than data: a function, an instance of a class, an iterator."""


class TooDeepError(CannotCrossError):
    """Plain values, nested deeper than may cross. A candidate can bring this about."""


Number = Callable[[Any], int]
"""Says under which number an instance of a class crosses, or raises CannotCrossError."""

Instance = Callable[[int], Any]
"""Returns the instance of a number, or raises LookupError."""


def encoded(value: object) -> str:
    """Return a value as JSON text, in ASCII.

    Instances of subclasses become what they extend. Raises CannotCrossError on what is no plain
    value, or is nested deeper than a hundred levels.
    """
    return json.dumps(plain(value, _no_number))


def decoded(text: str) -> Any:
    """Return the value that `encoded` wrote. Raises ValueError on anything else."""
    try:
        return revived(json.loads(text), _no_instance)
    except (TypeError, LookupError, RecursionError, ArithmeticError) as error:
        raise ValueError(f"these are no plain values: {type(error).__name__}") from error


def plain(value: Any, number: Number) -> Any:
    """Return what JSON writes in place of a value, with numbers for what is no plain value."""
    return _plain(value, 0, number)


def _no_number(value: Any) -> int:
    raise CannotCrossError(f"a {type(value).__name__} is no plain value")


def _no_instance(number: int) -> Any:
    raise LookupError(number)


def _plain(value: Any, depth: int, number: Number) -> Any:
    if value is None or value is True or value is False:
        return value
    if depth > _DEEPEST:
        raise TooDeepError(f"it is nested deeper than {_DEEPEST} levels")
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value, depth + 1, number)
    for module, name in _RARE:
        if module in sys.modules and isinstance(value, getattr(sys.modules[module], name)):
            return {module: str(value)}
    if type(value).__module__ == "numpy" and not getattr(value, "shape", None):
        return _plain(value.item(), depth + 1, number)
    return {"instance": number(value)}


def _int(value: int, *_: Any) -> Any:
    value = int(value)
    return {"int": hex(value)} if value.bit_length() > _LONG_INT_BITS else value


def _type(value: type) -> Any:
    if value not in _TYPES.values():
        raise CannotCrossError(f"the type {value.__name__} is none of Python's plain ones")
    return {"type": value.__name__}


def _list(value: Any, depth: int, number: Number) -> list[Any]:
    return [_plain(item, depth, number) for item in value]


def _items(kind: str) -> Callable[[Any, int, Number], Any]:
    return lambda value, depth, number: {kind: _list(value, depth, number)}


def _dict(value: dict[Any, Any], depth: int, number: Number) -> Any:
    return {
        "dict": [
            [_plain(key, depth, number), _plain(item, depth, number)] for key, item in value.items()
        ]
    }


_WRITERS: tuple[tuple[Any, Callable[[Any, int, Number], Any]], ...] = (
    (str, lambda value, *_: str.__str__(value)),
    (int, _int),
    (float, lambda value, *_: float(value)),
    (list, _list),
    (tuple, _items("tuple")),
    (dict, _dict),
    (frozenset, _items("frozenset")),
    (set, _items("set")),
    (_KEYS, _items("keys")),
    (_VALUES, _items("values")),
    (_ITEMS, _items("items")),
    (bytes, lambda value, *_: {"bytes": bytes(value).hex()}),
    (bytearray, lambda value, *_: {"bytearray": bytes(value).hex()}),
    (complex, lambda value, *_: {"complex": [value.real, value.imag]}),
    (range, lambda value, *_: {"range": [value.start, value.stop, value.step]}),
    (collections.deque, _items("deque")),
    (type, lambda value, *_: _type(value)),
)

_RARE = (("decimal", "Decimal"), ("fractions", "Fraction"))
"""Written as text, and imported only where they are used: that takes longer than most tests."""


def _rare(module: str, name: str, text: str) -> Any:
    return getattr(importlib.import_module(module), name)(text)


_READERS: dict[str, Callable[[Any, Instance], Any]] = {
    "int": lambda content, _: int(content, 16),
    "tuple": lambda content, instance: tuple(_each(content, instance)),
    "dict": lambda content, instance: {
        revived(key, instance): revived(item, instance) for key, item in content
    },
    "frozenset": lambda content, instance: frozenset(_each(content, instance)),
    "set": lambda content, instance: set(_each(content, instance)),
    "keys": lambda content, instance: dict.fromkeys(_each(content, instance)).keys(),
    "values": lambda content, instance: dict(enumerate(_each(content, instance))).values(),
    "items": lambda content, instance: dict(_each(content, instance)).items(),
    "bytes": lambda content, _: bytes.fromhex(content),
    "bytearray": lambda content, _: bytearray.fromhex(content),
    "complex": lambda content, _: complex(*map(float, content)),
    "range": lambda content, _: range(*map(int, content)),
    "type": lambda content, _: _TYPES[content],
    "deque": lambda content, instance: collections.deque(_each(content, instance)),
    "instance": lambda content, instance: instance(content),
    "decimal": lambda content, _: _rare("decimal", "Decimal", content),
    "fractions": lambda content, _: _rare("fractions", "Fraction", content),
}


def _each(content: Any, instance: Instance) -> list[Any]:
    return [revived(item, instance) for item in content]


def revived(content: Any, instance: Instance) -> Any:
    """Return the value that `plain` wrote. Raises ValueError, or what its parts raise."""
    if type(content) is list:
        return _each(content, instance)
    if type(content) is dict:
        if len(content) != 1:
            raise ValueError("an object must have one key, a kind of value")
        [(kind, inner)] = content.items()
        if kind not in _READERS:
            raise ValueError(f"{kind!r} is no kind of plain value")
        return _READERS[kind](inner, instance)
    return content
