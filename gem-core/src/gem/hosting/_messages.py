"""What a host and its workers say to each other: tuples of plain data, many in one frame.

A command is `(kind, slot, *arguments)`. A worker answers each, in order. A frame from it holds
the seconds that its answers took and the answers, `(status, *values)`.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any, NamedTuple

from gem.content import Action, ImagePart, Message, TextPart, ToolCall, ToolResult
from gem.hosting._failure import Failure

__all__ = [
    "ASK",
    "DONE",
    "DROP",
    "FOREIGN",
    "MAKE",
    "RESET",
    "REVIVE",
    "SAVE",
    "SAVED",
    "STEP",
    "Answer",
    "Command",
    "EpisodeSoFar",
    "loads",
    "pack_action",
    "pack_commands",
    "pack_foreign",
    "pack_plain",
    "unpack_action",
]

# Numbers, not an Enum: they are compared for every step, and both sides run the same version.
STEP, RESET, MAKE, ASK, DROP, SAVE, REVIVE = range(7)
"""Kinds of command. The last two are a host's own: a step with a snapshot after it, and a command
for an environment that must be restored first."""

DONE, SAVED, FOREIGN = range(3)
"""Kinds of answer: `(DONE, outcome)`, `(SAVED, outcome, snapshot)`, and `(FOREIGN, pickle)`, where
a pickle of another answer holds objects that are not plain data."""

Command = tuple[Any, ...]
Answer = tuple[Any, ...]


class EpisodeSoFar(NamedTuple):
    """What brings an episode back in a worker that never had it. Travels as a plain tuple."""

    start: tuple[Any, ...] | None
    """Its seed, options and repeat; None: no episode runs."""
    snapshot: tuple[str, Any] | None
    """The last one, and the stream of samples, which a snapshot leaves out."""
    actions: list[Any]
    """Those since the snapshot, or since the start; a number where a sample was drawn: its seat."""
    last_observation: str | None
    """What the environment showed last, to check a replay by; None where that is no text."""


_OURS = frozenset({Action, Failure, ImagePart, Message, TextPart, ToolCall, ToolResult})


class _ForeignError(Exception):
    """An object is neither plain data nor of our own classes."""


class _PlainPickler(pickle.Pickler):
    """Write plain data and our own classes alone: reading them back runs nobody else's code."""

    def reducer_override(self, value: Any) -> Any:
        if type(value) in _OURS or (isinstance(value, type) and value in _OURS):
            return NotImplemented
        raise _ForeignError


def pack_plain(message: Any) -> bytes | None:
    """Return a message as bytes, or None where it holds anything but plain data."""
    packed = io.BytesIO()
    try:
        _PlainPickler(packed, pickle.HIGHEST_PROTOCOL).dump(message)
    except (_ForeignError, RecursionError, ValueError, MemoryError):
        return None
    return packed.getvalue()


def pack_commands(wires: Sequence[Command], *more: Any) -> tuple[bytes, list[Command]]:
    """Return a frame of commands, and what else it holds, and the commands that are left out.

    Those hold more than plain data: the others of the frame must not suffer by them.
    """
    # All at once first: that a command holds something else is rare, and to look is not free.
    packed = pack_plain((list(wires), *more))
    if packed is not None:
        return packed, []
    plain: list[Command] = []
    refused: list[Command] = []
    for wire in wires:
        is_plain = pack_plain(wire) is not None
        (plain if is_plain else refused).append(wire)
    return pack_plain((plain, *more)) or b"", refused


def pack_foreign(answer: Answer, most_bytes: int) -> Answer:
    """Return an answer that holds any objects as one that holds bytes.

    Raises whatever the objects raise, and ValueError where it has more than `most_bytes`.
    """
    packed = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
    if len(packed) > most_bytes:
        raise ValueError(
            f"an answer of {len(packed):,} bytes, and {most_bytes:,} may pass between processes"
        )
    return FOREIGN, packed


def loads(packed: bytes) -> Any:
    """Read what the other process of this host packed. Of foreign objects it runs the code."""
    return pickle.loads(packed)  # noqa: S301 - written by a worker, which runs the same code


PackedAction = str | tuple[str, Sequence[ToolCall]] | list[Any]
"""A text; an Action, as its text and its calls, in a third of the time that pickling it takes; or
in a list what is no text, so that nobody's tuple is taken for an Action."""


def pack_action(action: Any) -> PackedAction:
    """Return an action as plain data, or what was given instead of one."""
    if type(action) is str:
        return action
    if isinstance(action, str):
        return str(action), getattr(action, "tool_calls", ())
    return [action]


def unpack_action(packed: PackedAction) -> Any:
    """Return what was packed. The environment refuses it where it is no text."""
    if isinstance(packed, str):
        return packed
    if isinstance(packed, list):
        return packed[0]
    text, calls = packed
    return Action(text, tool_calls=calls)
