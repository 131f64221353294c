"""Save and rebuild state as plain JSON data; never pickle. Knows nothing about episodes.

JSON's own types stay as they are; tuples, sets, deques, bytes, generators and dictionaries
with other keys than text become a tagged object, `{"$": tag, "v": ...}`.
"""

from __future__ import annotations

import base64
import json
import math
import random
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gem.content import (
    Action,
    ImagePart,
    Message,
    TextPart,
    observation_from_json,
    observation_to_json,
)
from gem.errors import SnapshotError

__all__ = ["FORMAT", "Snapshot", "decode", "encode"]

FORMAT = 1
_MAX_DEPTH = 64


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
        """Return one line of ASCII JSON."""
        return json.dumps(self._plain(), separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Snapshot:
        """Rebuild a snapshot. Raises SnapshotError on anything that is not one."""
        try:
            return cls._from_plain(json.loads(text))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
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
        if plain["format"] != FORMAT:
            raise ValueError(f"format {plain['format']!r}, and this version reads {FORMAT}")
        inner = cls._from_plain(plain["inner"]) if plain["inner"] else None
        return cls(plain["spec"], dict(plain["state"]), inner)


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
        self._seen: set[int] = set()

    def attribute(self, name: str, value: Any) -> Any:
        self._name = name
        return self.encode(value, _MAX_DEPTH)

    def encode(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str or kind is int or kind is bool or value is None:
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
        return [self.encode(item, depth) for item in values]

    def _refuse(self, what: str) -> SnapshotError:
        return SnapshotError(
            f"Cannot save attribute {self._name!r}: it {what}. Keep plain data there, name it "
            "in the class attribute `shared` if it never changes, or override snapshot and "
            "restore.",
            attribute=self._name,
        )


def decode(plain: Any) -> Any:
    """Rebuild what `encode` wrote. Raises SnapshotError on an unknown tag."""
    kind = type(plain)
    if kind is list:
        return [decode(item) for item in plain]
    if kind is not dict:
        return plain
    if "$" not in plain:
        return {key: decode(item) for key, item in plain.items()}
    read = _READERS.get(plain["$"])
    if read is None:
        raise SnapshotError(
            f"A snapshot holds the unknown tag {plain['$']!r}. A newer version may have "
            "written it."
        )
    return read(plain["v"])


def _tag(name: str, plain: Any) -> dict[str, Any]:
    return {"$": name, "v": plain}


def _write_float(encoder: _Encoder, value: float, depth: int) -> Any:
    return value if math.isfinite(value) else _tag("float", repr(value))


def _write_dict(encoder: _Encoder, value: dict[Any, Any], depth: int) -> Any:
    if all(type(key) is str for key in value) and "$" not in value:
        return {key: encoder.encode(item, depth) for key, item in value.items()}
    keys, items = encoder.items(value, depth), encoder.items(value.values(), depth)
    return _tag("dict", [list(pair) for pair in zip(keys, items)])


def _write_set(encoder: _Encoder, value: Any, depth: int) -> Any:
    items = encoder.items(value, depth)
    return _tag(type(value).__name__, sorted(items, key=lambda item: json.dumps(item)))


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
    packed = base64.b64encode(array("I", words).tobytes()).decode()
    return _tag("rng", [version, packed, gauss])


def _read_rng(plain: Any) -> random.Random:
    version, packed, gauss = plain
    words = array("I")
    words.frombytes(base64.b64decode(packed))
    rng = random.Random()
    rng.setstate((version, tuple(words), gauss))
    return rng


_MUTABLE = frozenset({list, dict, set, deque, random.Random})

_WRITERS: dict[type, Callable[[_Encoder, Any, int], Any]] = {
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
    "float": float,
    "tuple": lambda plain: tuple(map(decode, plain)),
    "dict": lambda plain: {decode(key): decode(item) for key, item in plain},
    "set": lambda plain: set(map(decode, plain)),
    "frozenset": lambda plain: frozenset(map(decode, plain)),
    "deque": lambda plain: deque(map(decode, plain[1]), maxlen=plain[0]),
    "bytes": base64.b64decode,
    "rng": _read_rng,
    "action": _read_action,
    "message": Message.from_json,
    "part": lambda plain: observation_from_json(plain)[0],  # type: ignore[index]
}
