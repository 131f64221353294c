"""One worker process, as its host sees it. A new process takes the place of one that ended."""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Collection
from time import monotonic

from gem.hosting._frames import Channel
from gem.hosting._heartbeat import NUMBER, REVIVING, SINCE, STOP, STOP_ALL, Heartbeat, new_heartbeat
from gem.hosting._messages import Command
from gem.hosting._supervisor import Supervisor, ends_of_hosts

__all__ = ["Worker"]

_PACKING_S = 1.0  # more than packing the largest answer takes, which is no command


class Worker:
    """What was asked of a worker, in order, and what it is doing."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.flight: deque[Command] = deque()  # not answered yet
        self.outbox: list[Command] = []  # of those, not sent yet, as `Slot.wire` gives them
        self.process = 0
        self.fruitless = 0  # processes that ended in a row, at nothing in particular
        self.is_absent = True  # no process is there, and none is being started
        self.is_leaving = False  # it ended or is ending: a report will say how
        self.is_late = False  # it is killed for a command that it would not stop
        self.stopped = 0  # the number of the command that it was told to stop
        self.kill_at = 0.0
        self._answered = 0
        self._looked_at = 0  # the number that `overdue_at` was asked about last
        self._silent_since = 0.0  # it has work and does none; 0: it does
        self._shared: tuple[Channel | Heartbeat, ...] = ()

    @property
    def is_here(self) -> bool:
        """Whether it can be talked to."""
        return not (self.is_absent or self.is_leaving)

    def start(self, supervisor: Supervisor, hello: bytes) -> None:
        """Have the process started. Raises OSError where there are no descriptors left."""
        descriptor = new_heartbeat()
        try:
            heartbeat = Heartbeat(descriptor)
            mine, theirs = socket.socketpair()
            # A copy of it in a fork of this process would keep the worker alive.
            ends_of_hosts.add(mine)
            self.channel = Channel(mine)
            self.heartbeat = heartbeat
            self._shared = (self.channel, self.heartbeat)
            with theirs:
                supervisor.start(self.number, theirs, descriptor)
        finally:
            os.close(descriptor)
        self.is_absent = self.is_leaving = self.is_late = False
        self.stopped = self._answered = self.process = 0
        self._silent_since = 0.0
        self.channel.send(hello)

    def dismiss(self) -> None:
        """Tell the process to leave what it was asked for, close everything, and end."""
        self.heartbeat.cells[STOP] = STOP_ALL
        self.flight.clear()
        self.channel.finish()

    def close(self) -> None:
        """Let go of what is shared with the process."""
        self.is_absent = True
        for shared in self._shared:
            shared.close()

    def next_command(self) -> Command:
        """Return the command that the next answer is for."""
        self._answered += 1
        self._silent_since = 0.0
        return self.flight.popleft()

    def take_back(self, slot: int) -> Command:
        """Forget and return the command of a slot, which was not sent."""
        # It is behind all that was: the numbers of those in the heartbeat stay true.
        command = next(command for command in self.flight if command[1] == slot)
        self.flight.remove(command)
        return command

    def take_flight(self) -> tuple[list[Command], Command | None]:
        """Forget and return what is not answered, and which of it was being done."""
        number = self._doing
        if self.is_late and number != self.stopped:  # it gave way in the moment before its end
            number = 0
        flight = list(self.flight)
        command = self._command(number)
        self.flight.clear()
        self.outbox.clear()
        return flight, command

    @property
    def _doing(self) -> int:
        return int(self.heartbeat.cells[NUMBER])

    @property
    def is_reviving(self) -> bool:
        """Whether it is restoring an episode."""
        return bool(self.heartbeat.cells[REVIVING])

    def overdue_at(self, timeout_s: float, unwanted: Collection[int] = ()) -> float | None:
        """Return when the command being done will be, or was, to be stopped or killed."""
        number = self._looked_at = self._doing if self.is_here else 0
        if not number:
            return self._stuck_at(timeout_s)
        self._silent_since = 0.0
        due: float = self.heartbeat.cells[SINCE] + timeout_s  # read last, as it is written first
        command = self._command(number) if unwanted else None
        if command is not None and command[1] in unwanted:
            due = 0.0
        return max(due, self.kill_at) if number == self.stopped else due

    def _stuck_at(self, timeout_s: float) -> float | None:
        """Return when it is given up, if it hangs between commands: in a finaliser, say."""
        began: float = self.heartbeat.cells[SINCE] if self.is_here and self.flight else 0.0
        if not began:  # nothing to do, or it is only starting
            self._silent_since = 0.0
            return None
        self._silent_since = self._silent_since or monotonic()
        return max(began, self._silent_since) + timeout_s + _PACKING_S

    def _command(self, number: int) -> Command | None:
        position = number - 1 - self._answered
        return self.flight[position] if 0 <= position < len(self.flight) else None

    def stop(self) -> bool:
        """Mark what `overdue_at` looked at as to be stopped; False where that was done before.

        If that is done by now, the mark means nothing: the next command is not overdue.
        """
        if self._looked_at == self.stopped:
            return False
        self.stopped = self._looked_at
        self.heartbeat.cells[STOP] = self.stopped
        return True
