"""The server of a tree: takes questions, has workers answer them, and watches the workers.

Its one thread never waits for anything but events, runs no verdict itself and holds no state that
a verdict depends on. It ends when the root of its tree does, or after a while without questions.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import selectors
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pkgutil import resolve_name
from time import monotonic
from typing import Any

from gem.env import process_tree
from gem.errors import in_one_line
from gem_envs_math.pool.cache import Cache, Pair, Reply
from gem_envs_math.pool.limits import Limits, most_workers
from gem_envs_math.pool.place import is_ours
from gem_envs_math.pool.worker import Verify, Worker

__all__ = ["GradingServer", "main"]

_CACHE_BYTES = 16 << 20
_MOST_LINE_BYTES = 1 << 20
_LOOK_S = 0.1  # between two looks at the memory of a worker that works


class GradingServer:
    """Serves whoever connects to `listener`. `root` is the process that it must not outlive."""

    def __init__(
        self,
        listener: socket.socket,
        root: process_tree.Root,
        load: Callable[[], Verify],
        limits: Limits,
        warm: Sequence[Pair],
    ) -> None:
        self._root = root
        self._limits = limits
        self._selector = selectors.DefaultSelector()
        self._listener = listener
        self._unread: dict[socket.socket, bytearray] = {}
        self._askers: dict[Pair, list[socket.socket]] = {}
        self._queue: deque[Pair] = deque()
        self._workers: list[Worker] = []
        self._cache = Cache(_CACHE_BYTES)
        self._counts = {"asked": 0, "cached": 0, "started": 0}
        self._is_over = False
        self._verify, self._failure = _loaded(load, warm)
        self._used_at = monotonic()  # not sooner: loading may take longer than it waits for work

    def run(self) -> None:
        """Serve until the root ends or nothing was asked for a while."""
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._watch_root()
        try:
            self._look_around()
            while not self._is_over:
                events = self._selector.select(self._wait_s())
                for key, _ in events:
                    key.data()
                if not events:
                    self._look_around()
                self._keep_limits()
                self._dispatch()
        finally:
            self._listener.close()
            for worker in self._workers:
                worker.kill()

    def _watch_root(self) -> None:
        """Look at the root as soon as it ends, and not only now and then."""
        if hasattr(os, "pidfd_open"):
            try:
                descriptor = os.pidfd_open(self._root.process)
            except OSError:  # it ended, or the system is too old for this
                return
            self._selector.register(descriptor, selectors.EVENT_READ, self._look_around)

    def _look_around(self) -> None:
        """See whether anybody may still ask."""
        if self._askers:
            self._used_at = monotonic()
        is_idle = monotonic() - self._used_at > self._limits.idle_s
        self._is_over = is_idle or not self._root.is_running

    def _wait_s(self) -> float:
        busy = [worker.overdue_at for worker in self._workers if worker.pair]
        if not busy:
            return 1.0
        return max(0.0, min(_LOOK_S, min(busy) - monotonic()))

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except OSError:  # it left already, or there are no descriptors: it asks again
            return
        if not is_ours(client):
            client.close()
            return
        client.setblocking(False)
        self._unread[client] = bytearray()
        self._selector.register(client, selectors.EVENT_READ, partial(self._hear, client))

    def _hear(self, client: socket.socket) -> None:
        unread = self._unread.get(client)
        if unread is None:  # it was dropped in this very round
            return
        try:
            piece = client.recv(1 << 16)
        except OSError:
            piece = b""
        unread += piece
        if not piece or len(unread) > _MOST_LINE_BYTES:
            self._drop(client)
        elif unread.endswith(b"\n"):
            question = _read(unread)
            unread.clear()
            if question is None:
                self._drop(client)
            else:
                self._take(client, question)

    def _take(self, client: socket.socket, question: list[str]) -> None:
        if self._failure:
            self._send(client, {"error": self._failure})
            return
        if not question:
            self._send(client, self._facts())
            return
        self._counts["asked"] += 1
        self._used_at = monotonic()
        pair = Pair(*question)
        reply = self._cache.get(pair)
        if reply is not None:
            self._counts["cached"] += 1
            self._send(client, reply)
        elif pair in self._askers:  # it is being found out for another one
            self._askers[pair].append(client)
        else:
            self._askers[pair] = [client]
            self._queue.append(pair)

    def _facts(self) -> dict[str, Any]:
        workers = [worker.process for worker in self._workers]
        return {**self._counts, "server": os.getpid(), "workers": workers}

    def _send(self, client: socket.socket, reply: object) -> None:
        try:
            client.sendall(json.dumps(reply).encode() + b"\n")
        except OSError:
            self._drop(client)

    def _drop(self, client: socket.socket) -> None:
        if self._unread.pop(client, None) is not None:
            self._selector.unregister(client)
            client.close()

    def _dispatch(self) -> None:
        """Give what waits to workers that are idle, and start workers as long as more may be."""
        while self._queue:
            worker = next((candidate for candidate in self._workers if not candidate.pair), None)
            if worker is None:
                if len(self._workers) == most_workers():
                    return
                worker = self._start()
            pair = self._queue.popleft()
            if not any(client in self._unread for client in self._askers[pair]):
                del self._askers[pair]  # all who asked have left
            elif not worker.begin(pair):
                self._queue.appendleft(pair)
                self._end(worker)

    def _start(self) -> Worker:
        worker = Worker(self._verify, self._limits)
        self._counts["started"] += 1
        self._workers.append(worker)
        self._selector.register(worker.end, selectors.EVENT_READ, partial(self._heard, worker))
        return worker

    def _heard(self, worker: Worker) -> None:
        if worker not in self._workers:  # it was ended in this very round
            return
        reply, is_sound = worker.reply()
        if not is_sound or worker.is_bloated:
            self._give_up(worker, reply)
        else:
            worker.is_fresh = False
            self._settle(worker, reply)

    def _keep_limits(self) -> None:
        now = monotonic()
        for worker in [candidate for candidate in self._workers if candidate.pair]:
            if now >= worker.overdue_at:
                self._end(worker)
                self._settle(worker, ("undecided", "too slow"))
            elif worker.is_bloated:
                self._give_up(worker, ("undecided", "too much memory"))

    def _give_up(self, worker: Worker, reply: Reply) -> None:
        """End a worker, whose reply counts if it was fresh.

        Else an earlier answer may have spoilt it: a fresh one is asked, in the time that is left.
        """
        self._end(worker)
        if worker.is_fresh:
            self._settle(worker, reply)
        elif worker.pair:
            self._start().begin(worker.pair, worker.since)

    def _end(self, worker: Worker) -> None:
        self._selector.unregister(worker.end)
        self._workers.remove(worker)
        worker.kill()

    def _settle(self, worker: Worker, reply: Reply) -> None:
        pair = worker.pair
        worker.pair = None
        if pair is not None:
            self._cache[pair] = reply
            for client in self._askers.pop(pair):
                if client in self._unread:
                    self._send(client, reply)


def _read(line: bytearray) -> list[str] | None:
    """Return the two texts of a question, or none for one about the server; None if it is bad."""
    try:
        question = json.loads(line)
    except ValueError:
        return None
    is_good = isinstance(question, list) and len(question) in (0, 2)
    return question if is_good and all(isinstance(text, str) for text in question) else None


def _loaded(load: Callable[[], Verify], warm: Sequence[Pair]) -> tuple[Verify, str]:
    """Return what makes verdicts, warm, and "" or why there is none."""
    try:
        verify = load()
        if not callable(verify):
            raise TypeError(f"it is a {type(verify).__name__}, which cannot be called")
        for pair in warm:
            verify(*pair)  # the workers are forks: they find warm what this warms
    except Exception as error:  # noqa: BLE001 - whoever asks is told
        return _no_verdict, in_one_line(error)
    gc.collect()
    gc.freeze()  # or a worker's collector would copy every page that it shares with this process
    return verify, ""


def _no_verdict(answer: str, gold: str) -> tuple[str, str]:
    raise AssertionError("nobody is asked where nothing was loaded")


def main(target: str, limits: tuple[Any, ...], warm: Sequence[tuple[str, str]]) -> None:
    """Be the server of the socket and the root that argv names, in a process that nobody awaits."""
    if os.fork():
        os._exit(0)
    descriptor, written = sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGHUP):  # a terminal's are not for it
        signal.signal(number, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))  # who began this may have had less
    process, began = written.split("-")
    listener = socket.socket(fileno=int(descriptor))
    # Not gem.registry: its 15 MB would be in every worker that this process forks.
    load = partial(resolve_name, target)
    pairs = [Pair(*texts) for texts in warm]
    GradingServer(
        listener, process_tree.Root(int(process), began), load, Limits(*limits), pairs
    ).run()
