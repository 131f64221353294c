"""JSON over a stream socket, each message with its length before it."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

__all__ = ["packed", "read_message"]

_HEADER = struct.Struct("<I")


def packed(message: Any) -> bytes:
    """Return a message as it travels. ASCII, so that a lone surrogate travels too."""
    body = json.dumps(message).encode("ascii")
    return _HEADER.pack(len(body)) + body


def read_message(end: socket.socket) -> Any:
    """Wait for a message; None once the other end is closed."""
    header = _read(end, _HEADER.size)
    if header is None:
        return None
    body = _read(end, *_HEADER.unpack(header))
    return None if body is None else json.loads(body)


def _read(end: socket.socket, size: int) -> bytes | None:
    pieces = []
    missing = size
    while missing:
        piece = end.recv(min(missing, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)
