"""Messages of bytes over a stream socket, each with its length before it.

A host never waits in a read or a write, or it and a worker could wait for each other: it uses a
`Channel`. A worker has nothing else to do: it uses `read_frame` and `write_frame`.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from typing import BinaryIO

__all__ = ["Channel", "read_frame", "write_frame"]

_HEADER = struct.Struct("<Q")
_CHUNK = 256 * 1024


class Channel:
    """The host's end of a socket. `is_over` once the other end is closed and all is read."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)  # `send` keeps what does not go now
        self._socket = end
        self._unsent = bytearray()
        self._unread = bytearray()
        self.is_over = False

    def fileno(self) -> int:
        """Return the descriptor, for a selector."""
        return self._socket.fileno()

    def send(self, frame: bytes) -> bool:
        """Send a frame, as much of it as goes now. Returns whether `flush` must send the rest."""
        self._unsent += _HEADER.pack(len(frame))
        self._unsent += frame
        self.flush()
        return bool(self._unsent)

    def flush(self) -> None:
        """Send what waits. Where nobody reads any more it is dropped: reading tells the end."""
        while self._unsent:
            try:
                sent = self._socket.send(self._unsent)
            except BlockingIOError:
                return
            except OSError:
                self._unsent.clear()
                return
            del self._unsent[:sent]

    @property
    def has_unsent(self) -> bool:
        """Whether `flush` has something left to send."""
        return bool(self._unsent)

    def receive(self) -> list[bytes]:
        """Return the frames that have come in whole."""
        while True:
            try:
                chunk = self._socket.recv(_CHUNK)
            except BlockingIOError:
                break
            except OSError:
                chunk = b""
            if not chunk:  # all that was sent before the end has been read by now
                self.is_over = True
                break
            self._unread += chunk
        return list(self._frames())

    def _frames(self) -> list[bytes]:
        frames = []
        start = 0
        unread = self._unread
        while len(unread) >= start + _HEADER.size:
            (size,) = _HEADER.unpack_from(unread, start)
            end = start + _HEADER.size + size
            if len(unread) < end:
                break
            # A view first: a slice of the buffer itself would copy the frame twice.
            frames.append(bytes(memoryview(unread)[start + _HEADER.size : end]))
            start = end
        del unread[:start]
        return frames

    def finish(self) -> None:
        """Tell the other end that nothing more comes; it can still be heard."""
        with suppress(OSError):  # it is gone already
            self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close this end."""
        self._socket.close()


def read_frame(source: BinaryIO) -> bytes | None:
    """Wait for a frame and return it, None once the other end is closed."""
    header = source.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    (size,) = _HEADER.unpack(header)
    frame = source.read(size)
    return frame if len(frame) == size else None


def write_frame(end: socket.socket, frame: bytes) -> None:
    """Send a frame, however long that takes. Raises OSError where nobody reads any more."""
    end.sendall(_HEADER.pack(len(frame)) + frame)
