"""Put counts into words. Knows nothing about what is counted."""

from __future__ import annotations

__all__ = ["counted"]

_PLURALS = {"policy": "policies", "try": "tries"}  # of all others the plural ends in s


def counted(number: int, noun: str) -> str:
    """Return a number with what it counts.

    >>> counted(1, "turn"), counted(12000, "character"), counted(2, "policy")
    ('1 turn', '12,000 characters', '2 policies')
    """
    if number == 1:
        return f"1 {noun}"
    plural = _PLURALS.get(noun, f"{noun}s")
    return f"{number:,} {plural}"
