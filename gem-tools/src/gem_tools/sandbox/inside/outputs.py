"""Two streams that are read while a program writes: what comes first is kept, the rest dropped.

A process of its own reads them. So no writer waits for the program to read, whatever that does,
and nothing that it writes needs room on the session's disk, which it may have filled.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
from typing import NoReturn

__all__ = ["Outputs"]

_STREAMS = (1, 2)
_LENGTHS = struct.Struct(">II")
_MOST_IN_A_PIPE = 1 << 20
"""One read takes all that a pipe holds: no user may make one larger than that."""


class Outputs:
    """The descriptors 1 and 2 of this process and of what it starts, from here on.

    `most` bytes of each are kept, and one more, which tells that there were more.
    """

    def __init__(self, most: int) -> None:
        pipes = [os.pipe() for _ in _STREAMS]
        self._control, control = socket.socketpair()
        process = os.fork()
        if process == 0:
            _start_reader(control.fileno(), [reading for reading, _ in pipes], most + 1)
        os.waitpid(process, 0)
        control.close()
        for stream, (reading, writing) in zip(_STREAMS, pipes, strict=True):
            os.close(reading)
            os.dup2(writing, stream)
            os.close(writing)

    def taken(self) -> list[bytes]:
        """Return what was written since the last time. Raises EOFError where nobody reads."""
        self._control.sendall(b"?")
        return [self._received(size) for size in _LENGTHS.unpack(self._received(_LENGTHS.size))]

    def _received(self, size: int) -> bytes:
        pieces = []
        while size:
            piece = self._control.recv(size)
            if not piece:
                raise EOFError("the process that reads the streams has ended")
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)


def _start_reader(control: int, pipes: list[int], most: int) -> NoReturn:
    """Start the reader and end: it is no child of the program, which may wait for all it has."""
    try:
        if os.fork() == 0:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            _read(*_alone_with([control, *pipes]), most)
    finally:
        os._exit(0)


def _alone_with(descriptors: list[int]) -> tuple[socket.socket, list[int]]:
    """Close all descriptors but these: the channel, above all, is not the reader's."""
    start = 0
    for descriptor in sorted(descriptors):
        os.closerange(start, descriptor)
        start = descriptor + 1
    os.closerange(start, os.sysconf("SC_OPEN_MAX"))
    control, *pipes = descriptors
    return socket.socket(fileno=control), pipes


def _read(control: socket.socket, pipes: list[int], most: int) -> None:
    kept = {pipe: bytearray() for pipe in pipes}
    waiting = select.poll()
    waiting.register(control, select.POLLIN)
    for pipe in pipes:
        os.set_blocking(pipe, False)
        waiting.register(pipe, select.POLLIN)
    while True:
        is_asked = control.fileno() in dict(waiting.poll())
        if is_asked and not control.recv(1):  # the program has ended
            return
        # All, for what was written before a question is in them, though it came after `poll`.
        for pipe in list(pipes):
            if not _take(pipe, kept[pipe], most):
                waiting.unregister(pipe)  # nobody can write any more: it would always be ready
                pipes.remove(pipe)
        if is_asked:
            control.sendall(_LENGTHS.pack(*map(len, kept.values())) + b"".join(kept.values()))
            for text in kept.values():
                text.clear()


def _take(pipe: int, kept: bytearray, most: int) -> bool:
    """Move what a pipe holds, as far as there is room; say whether more may come."""
    try:
        text = os.read(pipe, _MOST_IN_A_PIPE)
    except BlockingIOError:
        return True
    kept += text[: most - len(kept)]
    return text != b""
