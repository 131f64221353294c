"""Ask the server of this process's tree, and start it where there is none. Thread-safe."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from gem.env import process_tree
from gem.errors import GemError
from gem_envs_math.pool.cache import Pair, Reply
from gem_envs_math.pool.limits import Limits
from gem_envs_math.pool.place import Place

__all__ = ["MOST_CHARACTERS", "Pool"]

MOST_CHARACTERS = 10_000
"""Of a text that a worker is asked about; a longer one is undecided at once."""

_TRIES = 3
_MOST_IDLE = 16
_MOST_CONNECTS = 1000  # tries to connect while a server is being started
_CONNECT_WAIT_S = 0.001
_CODE = (
    "import sys; sys.path[:] = {!r}; "
    "from gem_envs_math.pool.server import main; main({!r}, {!r}, {!r})"
)

_pools: weakref.WeakSet[Pool] = weakref.WeakSet()
_handed_over: weakref.WeakSet[socket.socket] = weakref.WeakSet()


class Pool:
    """Makes verdicts with `target`, in killable processes that the whole tree shares.

    Pools with the same target and limits share one server, wherever in the tree they are. It
    starts with the first question (a second or two) and ends with the tree's root, or after a
    while without work. It makes verdicts on `warm` first, whatever they are: what they import and
    compile, no worker has to. Free to make, and holds nothing but idle connections.
    """

    def __init__(
        self, target: str, limits: Limits | None = None, *, warm: Sequence[Pair] = ()
    ) -> None:
        self.target = target
        self.warm = tuple(warm)
        self.limits = limits or Limits()
        self._idle: list[socket.socket] = []
        _pools.add(self)
        weakref.finalize(self, _close, self._idle)

    def ask(self, answer: str, gold: str) -> Reply:
        """Return the verdict on an answer: an outcome, and how it was found.

        It is `("undecided", why)` where the worker took too long or too much memory, crashed or
        raised, or where a text is too long. It depends on the two texts alone. Waits for its turn.
        Raises GemError where no server can be had.
        """
        if max(len(answer), len(gold)) > MOST_CHARACTERS:
            return "undecided", "too long"
        outcome, how = self._exchange([answer, gold])
        return outcome, how

    def stats(self) -> Mapping[str, Any]:
        """Return facts about the server: processes by id, and counts since it started."""
        facts: Mapping[str, Any] = self._exchange([])
        return facts

    def close(self) -> None:
        """Close idle connections. The server and its other clients go on."""
        _close(self._idle)

    def _exchange(self, question: list[str]) -> Any:
        line = json.dumps(question).encode() + b"\n"
        for _ in range(_TRIES):
            reply = self._try(line)
            if reply is not None:
                return self._understood(json.loads(reply))
            self.close()  # the server is gone: so is whoever held the other ends of these
        raise GemError(
            f"A verdict of {self.target} was asked for, and its server ended {_TRIES} times "
            "without one. See whether there is memory left for another process."
        )

    def _understood(self, reply: Any) -> Any:
        if isinstance(reply, dict) and "error" in reply:
            raise GemError(
                f"A verdict of {self.target} was asked for, and it cannot be loaded "
                f"({reply['error']}). Check what is installed."
            )
        return reply

    def _try(self, line: bytes) -> bytes | None:
        """Send a question and return the reply; None where the server went away."""
        try:
            connection = self._connection()
        except OSError:
            return None
        try:
            connection.sendall(line)
            reply = _line_of(connection)
        except OSError:
            reply = None
        except BaseException:  # an interrupt: the reply that may still come is nobody's
            connection.close()
            raise
        if reply is None or len(self._idle) >= _MOST_IDLE:
            connection.close()
        else:
            self._idle.append(connection)
        return reply

    def _connection(self) -> socket.socket:
        with suppress(IndexError):
            return self._idle.pop()
        root = process_tree.root()
        place = Place(root, f"{self.target} {self.limits}")
        for _ in range(_MOST_CONNECTS):
            if (connection := place.connect()) is not None:
                return connection
            if (listener := place.listen()) is not None:
                self._start(listener, root)
                return _expected(place.connect())
            time.sleep(_CONNECT_WAIT_S)  # somebody has the name, and does not listen yet
        return _expected(None)

    def _start(self, listener: socket.socket, root: process_tree.Root) -> None:
        """Have a server take over a socket. It is no child of ours: it outlives this process."""
        warm = tuple(map(tuple, self.warm))
        code = _CODE.format(sys.path, self.target, tuple(self.limits), warm)
        descriptor = listener.fileno()
        _handed_over.add(listener)
        with listener:
            subprocess.run(
                [sys.executable, "-W", "ignore", "-c", code, str(descriptor), str(root)],
                pass_fds=[descriptor],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # what ends this process's group is not for it
                env={**os.environ, "PYTHONHASHSEED": "0"},  # the order in a set may decide
                check=False,  # connecting tells
            )


def _close(connections: list[socket.socket]) -> None:
    while connections:
        with suppress(IndexError):  # another thread took the last one
            connections.pop().close()


def _expected(connection: socket.socket | None) -> socket.socket:
    if connection is None:
        raise ConnectionRefusedError("the server has ended as it started")
    return connection


def _line_of(connection: socket.socket) -> bytes | None:
    pieces = []
    while piece := connection.recv(1 << 16):
        pieces.append(piece)
        if piece.endswith(b"\n"):  # one reply at a time, in one line
            return b"".join(pieces)
    return None


def _let_go() -> None:
    """In a fork: leave to the parent what is the parent's."""
    for pool in list(_pools):
        pool.close()
    for listener in list(_handed_over):
        listener.close()


os.register_at_fork(after_in_child=_let_go)
