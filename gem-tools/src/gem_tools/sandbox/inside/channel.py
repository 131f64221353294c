"""A session's program talks to whoever opened it: one message in, one message out.

Each message travels over the stream socket `DESCRIPTOR`, after its length in four bytes, the
highest first. A program imports this by `from gem_tools.sandbox.inside.channel import receive`.
"""

from __future__ import annotations

import os
import struct

__all__ = ["DESCRIPTOR", "close", "receive", "send"]

DESCRIPTOR = 3
_HEADER = struct.Struct(">I")


def receive() -> bytes | None:
    """Wait for a message; None once the session was closed."""
    header = _read(_HEADER.size)
    return None if header is None else _read(*_HEADER.unpack(header))


def send(message: bytes) -> None:
    """Answer. Raises BrokenPipeError once the session was closed."""
    rest = memoryview(_HEADER.pack(len(message)) + message)
    while rest:
        rest = rest[os.write(DESCRIPTOR, rest) :]


def close() -> None:
    """Leave the channel to the other processes of this program: for a fork that must not answer."""
    os.close(DESCRIPTOR)


def _read(size: int) -> bytes | None:
    pieces = []
    while size:
        piece = os.read(DESCRIPTOR, min(size, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
