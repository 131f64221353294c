"""What runs in a worker process: read commands, do them, answer. Runs no thread of its own.

The number of the command being done stands in the heartbeat, so that the host knows which
environment hangs, or which one the worker died of.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from gem._python.places import text_with_place
from gem.errors import text_of
from gem.hosting._frames import read_frame, write_frame
from gem.hosting._heartbeat import NUMBER, REVIVING, SINCE, STOP, STOP_ALL, Heartbeat
from gem.hosting._messages import Answer, Command, loads, pack_foreign, pack_plain
from gem.hosting._worker_envs import WorkerEnvs

__all__ = ["INTERRUPT", "CommandServer", "Interrupted", "limit_memory", "serve"]

INTERRUPT = signal.SIGUSR1  # SIGALRM is left to environments

_FLUSH_S = 0.002


class Interrupted(BaseException):  # not an Exception, which an environment may catch
    """The command that is being done has outlasted its deadline."""


class CommandServer:
    """Does what comes in through `end` until the other side is closed."""

    def __init__(self, end: socket.socket, heartbeat: Heartbeat) -> None:
        self._end = end
        self._source = end.makefile("rb")
        self._cells = heartbeat.cells
        self._envs = WorkerEnvs(heartbeat)
        self._most_bytes = 0
        self._served = 0

    def run(self) -> None:
        """Serve; at the end close every environment and send what went wrong with it."""
        hello = read_frame(self._source)
        if hello is not None:
            self._most_bytes, most_memory = loads(hello)
            limit_memory(most_memory)
            while (frame := read_frame(self._source)) is not None:
                (commands,) = loads(frame)
                self._serve(commands)
            self._tell((None, self._envs.close()))

    def interrupt(self, *_: Any) -> None:
        """Handle the host's signal: stop the command that it means, if that still runs."""
        cells = self._cells
        # A signal may come late: it means a command by its number, and that one may be done.
        if cells[NUMBER] and cells[NUMBER] == cells[STOP]:
            cells[STOP] = 0
            raise Interrupted

    def _serve(self, commands: Sequence[Command]) -> None:
        """Do one frame's commands. All that an Interrupted can come out of is inside the try."""
        first = self._served + 1
        cells = self._cells
        answer = self._envs.answer
        self._served += len(commands)
        answers: list[Answer] = []
        position = sent = 0
        flushed = monotonic()
        while position < len(commands):
            try:
                for position in range(position, len(commands)):  # noqa: B020
                    now = monotonic()
                    if position > sent and now - flushed > _FLUSH_S:
                        self._send(commands, answers, sent, now - flushed)
                        sent = position
                        flushed = now
                        if cells[STOP] == STOP_ALL:
                            return
                    cells[SINCE] = now
                    cells[NUMBER] = first + position
                    answers.append(answer(commands[position]))
                cells[NUMBER] = 0
                position = len(commands)
            except Interrupted:
                position = int(cells[NUMBER]) - first
                answers[position:] = [self._stopped(commands[position])]
                position += 1
            except MemoryError as error:
                text = text_of(error) or "MemoryError"
                answers.append(self._envs.fail_with(commands[position][1], "worker_lost", text))
                self._send(commands, answers, sent, 0.0)
                raise SystemExit from error  # what else is here is restored in a new worker
        self._send(commands, answers, sent, monotonic() - flushed)

    def _stopped(self, command: Command) -> Answer:
        reason = "worker_lost" if self._cells[REVIVING] else "step_timeout"
        self._cells[NUMBER] = self._cells[REVIVING] = 0
        return self._envs.fail_with(command[1], reason, "")

    def _send(
        self, commands: Sequence[Command], answers: list[Answer], start: int, took_s: float
    ) -> None:
        """Send the answers from `start` on, those that are not plain or too large one by one."""
        self._cells[NUMBER] = 0
        fresh = answers[start:]
        packed = pack_plain((took_s, fresh))
        if packed is not None and len(packed) <= self._most_bytes:
            write_frame(self._end, packed)
            return
        for command, answer in zip(commands[start:], fresh, strict=False):
            self._tell((took_s, [self._carried(command, answer)]))

    def _tell(self, message: object) -> None:
        packed = pack_plain(message)
        if packed is None:  # there is no memory left: what was not told is done in a new worker
            raise SystemExit
        write_frame(self._end, packed)

    def _carried(self, command: Command, answer: Answer) -> Answer:
        try:
            return pack_foreign(answer, self._most_bytes)
        except Exception as error:  # noqa: BLE001 - an object's own code fails: costs one episode
            return self._envs.fail_with(command[1], "env_error", text_with_place(error))


def limit_memory(most_bytes: int | None) -> None:
    """Let this process have at most so many bytes of address space; None: as many as it had."""
    if most_bytes is not None:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, hard))


def serve(end: socket.socket, heartbeat: Heartbeat) -> None:  # pragma: no cover - a worker enters
    """Be a worker until the host's end is closed.

    What its environments print goes to stderr: the host's stdout may hold what a program reads.
    """
    sys.stdout = sys.stderr
    with suppress(OSError):  # there is no stderr
        os.dup2(2, 1)  # what is not Python's own writes there too
    server = CommandServer(end, heartbeat)
    signal.signal(INTERRUPT, server.interrupt)

    def let_go() -> None:
        """Neither keep the worker's end open nor answer for it, in a fork by an environment."""
        if end.fileno() >= 0:
            os.close(end.detach())  # `end.close()` does nothing while the server has a file of it

    os.register_at_fork(after_in_child=let_go)
    try:
        server.run()
    except OSError:  # nobody reads any more
        pass
    finally:
        sys.stderr.flush()
