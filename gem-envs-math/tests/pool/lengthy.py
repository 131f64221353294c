"""Verdicts from a module that takes its time to import, as large libraries do."""

from __future__ import annotations

from time import monotonic

_until = monotonic() + 0.5
while monotonic() < _until:
    pass


def verify(answer: str, gold: str) -> tuple[str, str]:
    """Compare two texts."""
    return ("right" if answer == gold else "wrong"), "compared"
