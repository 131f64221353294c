"""How long to wait before a request is made again. Knows nothing about HTTP libraries."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from gem._python.seeding import stream

__all__ = ["Backoff", "retry_after_s"]


class Backoff(NamedTuple):
    """How long to wait before trying again: doubling from `first_s` to `longest_s`, jittered."""

    first_s: float
    longest_s: float

    def delay_s(self, attempt: int, seed: int, retry_after_s: float | None = None) -> float:
        """Return the wait after a failed attempt, the first being 0. What a server asks counts.

        Half of it is jitter, keyed by the request's seed: many requests do not come back at once.

        >>> Backoff(1.0, 30.0).delay_s(9, seed=0, retry_after_s=7.0)
        30.0
        >>> Backoff(1.0, 30.0).delay_s(0, seed=0, retry_after_s=7.0)
        7.0
        """
        # Bounded, for a float has no room for 2 to the power of some thousand attempts.
        grown: float = self.first_s * 2 ** min(attempt, 30)
        # What a server asks for is not shortened by jitter.
        if retry_after_s is None:
            grown *= 0.5 + stream("backoff", seed, attempt).random() / 2
        return min(max(grown, retry_after_s or 0.0), self.longest_s)


def retry_after_s(header: str | None) -> float | None:
    """Read a Retry-After header, seconds or a date; None where it is neither.

    >>> retry_after_s("120"), retry_after_s("soon")
    (120.0, None)
    """
    if header is None:
        return None
    # Not `float` alone: that reads "nan", "1e999" and digits of other scripts as well.
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", header.strip(), re.ASCII):
        return float(header)
    try:
        date = parsedate_to_datetime(header)
        return max(0.0, date.timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
