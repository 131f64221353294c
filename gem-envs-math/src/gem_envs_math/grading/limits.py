"""How much of an answer is looked at: each limit, and what is raised beyond it."""

from __future__ import annotations

__all__ = [
    "BITS",
    "DEPTH",
    "FACTORIAL",
    "ITEMS",
    "LONGEST",
    "LONGEST_ASKED",
    "TooDeep",
    "TooLarge",
    "Undefined",
    "Unread",
]

LONGEST = 2_000
"""Characters of an answer that is read; one that is longer is right only as the gold's copy."""

LONGEST_ASKED = 400
"""Characters of an answer that is handed to math-verify, whose time grows faster than they do."""

DEPTH = 50
"""Brackets, fractions, roots and powers inside one another."""

ITEMS = 100
"""Items of a list, a set or a tuple; rows or columns of a matrix."""

BITS = 4_096
"""Bits of a whole number that is written out to serve as an exponent or under a factorial."""

FACTORIAL = 5_000
"""The largest number whose factorial or binomial coefficients are taken."""


class Unread(Exception):
    """This is no notation that the grader reads itself."""


class TooDeep(Unread):
    """More levels than DEPTH, or more items than ITEMS."""


class TooLarge(Unread):
    """A power tower, a factorial or a number whose size is beyond BITS or FACTORIAL."""


class Undefined(Unread):
    """A division by zero, or 0 to the power of 0."""
