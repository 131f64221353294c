r"""The sines and cosines that roots express: those of the multiples of 15 degrees."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FULL_TURN", "TRIGONOMETRIC", "Radicals", "sine"]

FULL_TURN = 24
"""Multiples of 15 degrees in a full turn."""

TRIGONOMETRIC = {
    "sin": ("sin", ""),
    "cos": ("cos", ""),
    "tan": ("sin", "cos"),
    "cot": ("cos", "sin"),
    "sec": ("", "cos"),
    "csc": ("", "sin"),
}
"""Each function as a quotient of sine and cosine; "" is 1."""


class Radicals(NamedTuple):
    """The number (a + b * sqrt(2) + c * sqrt(3) + d * sqrt(6)) / 4."""

    one: int = 0
    root2: int = 0
    root3: int = 0
    root6: int = 0


_QUADRANT = (
    Radicals(),
    Radicals(root2=-1, root6=1),
    Radicals(one=2),
    Radicals(root2=2),
    Radicals(root3=2),
    Radicals(root2=1, root6=1),
    Radicals(one=4),
)


def sine(multiple: int) -> Radicals:
    """Return the sine of so many times 15 degrees.

    >>> sine(2), sine(-6)
    (Radicals(one=2, root2=0, root3=0, root6=0), Radicals(one=-4, root2=0, root3=0, root6=0))
    """
    multiple %= FULL_TURN
    is_negative = multiple > FULL_TURN // 2
    multiple %= FULL_TURN // 2
    size = _QUADRANT[min(multiple, FULL_TURN // 2 - multiple)]
    return Radicals(*(-part for part in size)) if is_negative else size
