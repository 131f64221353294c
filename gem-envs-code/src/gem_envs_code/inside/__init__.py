"""What runs in jails. These modules travel there as text; they import the standard library alone.

The candidate's jail runs `driver`; what holds expected values is in other jails, `examiner` and
`checker`. None of them may import anything but the standard library and its neighbours here.
"""

from __future__ import annotations

__all__ = ["READY"]

READY = b"ready\n"
"""What a candidate's jail says on stderr before it has a candidate."""
