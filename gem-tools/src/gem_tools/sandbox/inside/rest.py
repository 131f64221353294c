"""Let processes rest while nobody waits for them, so that they take no time and grow no further."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from gem_tools.sandbox.inside import families

__all__ = ["Rest"]


class Rest:
    """The processes of one jail that were told to stop."""

    def __init__(self) -> None:
        self._stopped: Sequence[int] = ()

    def is_complete(self, processes: Sequence[int]) -> bool:
        """Stop these processes; say whether they are those that were stopped the last time."""
        if processes == self._stopped:
            return True
        families.signal_all(processes, signal.SIGSTOP)
        self._stopped = processes
        return False

    def end(self) -> None:
        """Let them go on."""
        families.signal_all(self._stopped, signal.SIGCONT)
        self._stopped = ()
