"""A server and the processes below it, found in /proc and killed; on Linux alone."""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress

from gem_tools.sandbox.inside import families

__all__ = ["Descendants"]


class Descendants:
    """A process, what it has started and what that has, in whichever group or session.

    They are found while what started them runs: a daemon, whose parent has ended before anybody
    looked, is nobody's. Each is held by a descriptor, which is of no later process of its number.
    """

    def __init__(self, process: int) -> None:
        self._handles: dict[int, int] = {}
        if sys.platform == "linux":
            with suppress(OSError):
                self._handles[process] = os.pidfd_open(process)

    def look(self) -> bool:
        """Find those that run now; say whether there are any that were not known."""
        if sys.platform != "linux":
            return False
        opened: dict[int, int] = {}
        for number in self._below() - self._handles.keys():
            with suppress(OSError):  # it has ended
                opened[number] = os.pidfd_open(number)
        # Between the two steps a number may have become another's. It was below the server's once
        # more and ran until now: so it was the same process's from the one step to the other.
        confirmed = self._below() if opened else set()
        known = len(self._handles)
        for number, handle in opened.items():
            if number in confirmed and not _has_ended(handle):
                self._handles[number] = handle
            else:
                os.close(handle)
        return len(self._handles) > known

    def kill(self) -> None:
        """Kill those that were found, and what they have started since."""
        if sys.platform != "linux":
            return
        while self.look():
            pass
        for handle in self._handles.values():
            with suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)
        self._handles.clear()

    def _below(self) -> set[int]:
        """Return the numbers of what is below those that are known and still run."""
        found = families.below(self._handles)
        # Asked afterwards: the number of one that has ended may be another process's by now.
        return {
            number
            for root, family in found.items()
            if not _has_ended(self._handles[root])
            for number in family[1:]
        }


def _has_ended(handle: int) -> bool:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(0))
