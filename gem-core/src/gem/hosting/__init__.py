"""Where environments live, and the one way to have them do something."""

from __future__ import annotations

from gem.hosting.failure import Failure
from gem.hosting.messages import ASK, DROP, MAKE, RESET, STEP
from gem.hosting.recovering import RecoveringHost

__all__ = ["ASK", "DROP", "MAKE", "RESET", "STEP", "Failure", "RecoveringHost"]
