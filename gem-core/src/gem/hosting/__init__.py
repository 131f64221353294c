"""Where environments live, and the one way to have them do something: a `Host`.

Imports what is below it alone, and knows nothing about episodes, vectors or policies.
"""

from __future__ import annotations

from gem.hosting.failure import Failure
from gem.hosting.messages import ASK, DROP, MAKE, RESET, STEP
from gem.hosting.port import Host, Wakeup
from gem.hosting.slot_envs import SlotEnvs

__all__ = ["ASK", "DROP", "MAKE", "RESET", "STEP", "Failure", "Host", "SlotEnvs", "Wakeup"]
