"""Save and rebuild state as plain JSON data; never pickle. Knows nothing about episodes.

JSON's own types stay as they are; tuples, sets, deques, bytes, generators and dictionaries
with other keys than text become a tagged object, `{"$": tag, "v": ...}`.
"""

from __future__ import annotations

import base64
import json
import math
import random
import struct
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gem.content import (
    Action,
    ImagePart,
    Message,
    TextPart,
    observation_to_json,
)
from gem.errors import SnapshotError, in_one_line

__all__ = ["FORMAT", "Snapshot", "decode", "encode"]

FORMAT = 1
_MAX_DEPTH = 64
_WORDS = struct.Struct("<625I")  # a generator's state, the same on every machine
_LONG_BITS = 1024  # Python refuses to spell very long numbers in decimal
_LONG = 1 << (_LONG_BITS - 1)
# Exact types, for a subclass would come back as its parent: an IntEnum as an int.
_PLAIN = frozenset({str, bool, type(None)})
_INTS = frozenset({int})
_TEXT = frozenset({str})
_NESTED = frozenset({list, dict})
# What reading data of another shape can raise: a snapshot's text can come from anywhere.
_MALFORMED = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
    struct.error,
)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that a copy needs to continue, the generator included, as plain data.

    `spec` is the environment's spec as JSON data, or None for one made by hand. `state` maps
    attribute names to encoded values. `inner` is the wrapped environment's snapshot.
    """

    spec: Mapping[str, Any] | None
    state: Mapping[str, Any]
    inner: Snapshot | None = None
    format: int = FORMAT

    def to_json(self) -> str:
        """Return one line of ASCII JSON. Raises SnapshotError if it was made of other data."""
        try:
            return json.dumps(self._plain(), separators=(",", ":"), allow_nan=False)
        except _MALFORMED as error:
            raise SnapshotError(
                f"This snapshot is not plain data ({error}). Take one with env.get_state()."
            ) from error

    @classmethod
    def from_json(cls, text: str | bytes) -> Snapshot:
        """Rebuild a snapshot. Raises SnapshotError on anything that is not one."""
        try:
            return cls._from_plain(json.loads(text))
        except _MALFORMED as error:
            raise SnapshotError(
                f"This text is not a snapshot ({error}). Pass what Snapshot.to_json() returned."
            ) from error

    def _plain(self) -> dict[str, Any]:
        inner = self.inner._plain() if self.inner else None
        return {
            "format": self.format,
            "spec": self.spec,
            "state": self.state,
            "inner": inner,
        }

    @classmethod
    def _from_plain(cls, plain: dict[str, Any]) -> Snapshot:
        if type(plain["format"]) is not int or plain["format"] != FORMAT:
            raise ValueError(f"its format is {plain['format']!r}, and this version reads {FORMAT}")
        if not (plain["spec"] is None or isinstance(plain["spec"], dict)):
            raise TypeError("its spec is no object")
        if not isinstance(plain["state"], dict):
            raise TypeError("its state is no object")
        inner = None if plain["inner"] is None else cls._from_plain(plain["inner"])
        return cls(plain["spec"], plain["state"], inner)


def encode(attributes: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return attributes as JSON data. Raises SnapshotError, naming the first that is not plain.

    A container that appears in two places is refused: its two copies would drift apart.

    >>> decode(encode([("seen", {3, 1}), ("last", (1, "a"))]))
    {'seen': {1, 3}, 'last': (1, 'a')}
    """
    encoder = _Encoder()
    return {name: encoder.attribute(name, value) for name, value in attributes}


class _Encoder:
    def __init__(self) -> None:
        self._name = ""
        # The ids of all mutable containers so far. What is encoded stays alive meanwhile, so no
        # id is used a second time.
        self._seen: set[int] = set()

    def attribute(self, name: str, value: Any) -> Any:
        self._name = name
        return self.encode(value, _MAX_DEPTH)

    def encode(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int and value.bit_length() < _LONG_BITS:
            return value
        write = _WRITERS.get(kind)
        if write is None:
            raise self._refuse(f"holds a {kind.__module__}.{kind.__qualname__}")
        if depth == 0:
            raise self._refuse(f"is nested more than {_MAX_DEPTH} deep")
        if kind in _MUTABLE:
            if id(value) in self._seen:
                raise self._refuse(f"holds a {kind.__name__} that is also held elsewhere")
            self._seen.add(id(value))
        return write(self, value, depth - 1)

    def items(self, values: Any, depth: int) -> list[Any]:
        # Boards are flat and long: at C speed, sixty cells cost what two did.
        kinds = set(map(type, values))
        if kinds <= _PLAIN or (kinds == _INTS and -_LONG < min(values) <= max(values) < _LONG):
            return list(values)
        return [self.encode(item, depth) for item in values]

    def _refuse(self, problem: str) -> SnapshotError:
        return SnapshotError(
            f"Cannot save attribute {self._name!r}: it {problem}. Keep plain data there, name it "
            "in the class attribute `shared` if it never changes, or override snapshot and "
            "restore.",
            attribute=self._name,
        )


def decode(plain: Any) -> Any:
    """Rebuild what `encode` wrote. Raises SnapshotError on anything else."""
    try:
        return _decode(plain)
    except _MALFORMED as error:
        raise SnapshotError(
            f"A snapshot holds a value that cannot be read ({in_one_line(error)}). "
            "Pass what a snapshot of this or an older version wrote."
        ) from error


def _decode(plain: Any) -> Any:
    if isinstance(plain, list):
        return _items(plain)
    if not isinstance(plain, dict):
        return plain
    if "$" not in plain:
        return dict(zip(plain, _items(list(plain.values())), strict=True))
    tag = plain["$"]
    if tag not in _READERS:
        raise LookupError(f"unknown tag {tag!r}")
    return _READERS[tag](plain["v"])


def _items(plain: Any) -> list[Any]:
    if not isinstance(plain, list):
        raise TypeError(f"{type(plain).__name__} instead of a list")
    if _NESTED.isdisjoint(map(type, plain)):
        return plain.copy()
    return [_decode(item) for item in plain]


def _tag(name: str, plain: Any) -> dict[str, Any]:
    return {"$": name, "v": plain}


def _write_float(encoder: _Encoder, value: float, depth: int) -> Any:
    return value if math.isfinite(value) else _tag("float", repr(value))


def _write_dict(encoder: _Encoder, value: dict[Any, Any], depth: int) -> Any:
    # One that has the key "$" itself would read as a tagged object.
    if set(map(type, value)) <= _TEXT and "$" not in value:
        return dict(zip(value, encoder.items(value.values(), depth), strict=True))
    keys = encoder.items(value, depth)
    items = encoder.items(value.values(), depth)
    return _tag("dict", [list(pair) for pair in zip(keys, items, strict=True)])


def _write_set(encoder: _Encoder, value: Any, depth: int) -> Any:
    # Sorted, so that equal sets give equal snapshots: strings iterate otherwise in each process.
    items = encoder.items(value, depth)
    return _tag(type(value).__name__, sorted(items, key=json.dumps))


def _write_deque(encoder: _Encoder, value: deque[Any], depth: int) -> Any:
    return _tag("deque", [value.maxlen, encoder.items(value, depth)])


def _write_action(encoder: _Encoder, value: Action, depth: int) -> Any:
    if not value.tool_calls:
        return str(value)
    return _tag("action", Message("assistant", str(value), value.tool_calls).to_json())


def _read_action(plain: Any) -> Action:
    message = Message.from_json(plain)
    return Action(message.text, tool_calls=message.tool_calls)


def _write_part(encoder: _Encoder, value: TextPart | ImagePart, depth: int) -> Any:
    return _tag("part", observation_to_json((value,)))


def _write_rng(encoder: _Encoder, value: random.Random, depth: int) -> Any:
    version, words, gauss = value.getstate()
    packed = base64.b64encode(_WORDS.pack(*words)).decode()
    return _tag("rng", [version, packed, gauss])


def _read_rng(plain: Any) -> random.Random:
    version, packed, gauss = plain
    rng = random.Random(0)  # without a seed it would read the system's entropy
    # `gauss` is the second of the two numbers that one call of `random.gauss` makes.
    next_gauss = None if gauss is None else float(gauss)
    rng.setstate((version, _WORDS.unpack(_read_bytes(packed)), next_gauss))
    return rng


def _read_bytes(plain: str) -> bytes:
    return base64.b64decode(plain, validate=True)


def _read_part(plain: Any) -> TextPart | ImagePart:
    parts = Message.from_json({"role": "user", "content": plain["parts"]}).content
    if isinstance(parts, str):
        raise TypeError("text instead of parts")
    return parts[0]


_MUTABLE = frozenset({list, dict, set, deque, random.Random})

_WRITERS: dict[type, Callable[[_Encoder, Any, int], Any]] = {
    int: lambda encoder, value, depth: _tag("int", hex(value)),
    float: _write_float,
    list: _Encoder.items,
    tuple: lambda encoder, value, depth: _tag("tuple", encoder.items(value, depth)),
    dict: _write_dict,
    set: _write_set,
    frozenset: _write_set,
    deque: _write_deque,
    bytes: lambda encoder, value, depth: _tag("bytes", base64.b64encode(value).decode()),
    random.Random: _write_rng,
    Action: _write_action,
    Message: lambda encoder, value, depth: _tag("message", value.to_json()),
    TextPart: _write_part,
    ImagePart: _write_part,
}

_READERS: dict[str, Callable[[Any], Any]] = {
    "int": lambda plain: int(plain, 16),
    "float": float,
    "tuple": lambda plain: tuple(_items(plain)),
    "dict": lambda plain: {_decode(key): _decode(item) for key, item in plain},
    "set": lambda plain: set(_items(plain)),
    "frozenset": lambda plain: frozenset(_items(plain)),
    "deque": lambda plain: deque(_items(plain[1]), maxlen=plain[0]),
    "bytes": _read_bytes,
    "rng": _read_rng,
    "action": _read_action,
    "message": Message.from_json,
    "part": _read_part,
}
