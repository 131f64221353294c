"""What an actor does: hold environments for a host elsewhere, in processes of its own node.

Knows nothing about Ray: it is a class whose methods are called from several threads.
"""

from __future__ import annotations

import math
import select
import sys
import threading
import warnings
from collections.abc import Sequence
from time import monotonic
from typing import Any

from gem.env import process_tree
from gem.hosting import RelayHost, Wakeup

__all__ = ["Actor"]

_LINGER_S = 0.005  # a call costs both sides 0.7 ms together: answers had better share one


class Actor:
    """The environments of one worker of a host elsewhere, in a host of processes beside it.

    What an environment does befalls a process, and costs there what it costs anywhere. `path` is
    where that host's own process finds modules; what is new of it comes last here. `root` is the
    root of that process's tree (`gem.process_tree`): where it runs on this machine, this joins it.
    """

    def __init__(
        self, path: Sequence[str], root: str, num_processes: int, options: dict[str, Any]
    ) -> None:
        process_tree.join(root)
        sys.path.extend(entry for entry in path if entry not in sys.path)
        self._host = RelayHost(num_processes, **options)
        self._turn = threading.Lock()  # the host is not thread-safe
        self._counting = threading.Lock()
        self._calls = 0
        self._new_call = Wakeup()
        self._poll = select.poll()
        self._poll.register(self._new_call.fileno(), select.POLLIN)
        self._poll.register(self._host, select.POLLIN)

    def exchange(self, frame: bytes) -> bytes:
        """Take commands on, and return the answers there are once there is any.

        A call waits until the next one comes, which then waits in its place.
        """
        call = self._announce()
        with self._turn:
            self._host.take(frame)
            self._await_answers(call)
            return self._host.answers()

    def close(self) -> list[str]:
        """Close every environment and end the processes. Return what went wrong with that."""
        self._announce()
        with self._turn, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self._host.close()
            self._new_call.close()
        return [str(warning.message) for warning in caught]

    def _announce(self) -> int:
        """Number this call, and tell the one that waits."""
        with self._counting:
            self._calls += 1
            call = self._calls
        # After the count: the one that waits looks at that once it is woken.
        self._new_call.set()
        return call

    def _await_answers(self, call: int) -> None:
        until = math.inf
        while self._host.is_busy and call == self._calls and (left := until - monotonic()) > 0:
            timeout_s = min(left, self._host.next_check_s())
            self._poll.poll(math.ceil(1000 * timeout_s))
            self._new_call.clear()
            self._host.collect(0)
            if self._host.has_answers:
                until = min(until, monotonic() + _LINGER_S)
