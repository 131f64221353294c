"""Let processes rest while nobody waits for them, so that they take no time and grow no further."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import suppress

__all__ = ["Rest"]


class Rest:
    """The processes of one jail that were told to stop."""

    def __init__(self) -> None:
        self._stopped: Sequence[int] = ()

    def is_complete(self, processes: Sequence[int]) -> bool:
        """Stop these processes; say whether they are those that were stopped the last time."""
        if processes == self._stopped:
            return True
        self._signal(processes, signal.SIGSTOP)
        self._stopped = processes
        return False

    def end(self) -> None:
        """Let them go on."""
        self._signal(self._stopped, signal.SIGCONT)
        self._stopped = ()

    @staticmethod
    def _signal(processes: Sequence[int], number: int) -> None:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, number)
