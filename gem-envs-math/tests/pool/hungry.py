"""Verdicts from a module that takes much memory to import, as large libraries do."""

from __future__ import annotations

size = len(bytearray(300 << 20))


def verify(answer: str, gold: str) -> tuple[str, str]:
    """Compare two texts."""
    return ("right" if answer == gold else "wrong"), "compared"
