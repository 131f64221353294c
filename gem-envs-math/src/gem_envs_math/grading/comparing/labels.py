"""Tell whether labels speak against two answers: `5 boys, 7 girls` and `7 boys, 5 girls`.

A label says nothing about one number, but for words that exclude each other (`5 m east`); among
several numbers it says which is which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gem_envs_math.grading.reading.shapes import Scalar, Shape

__all__ = ["are_exclusive", "are_other_labels"]

_EXCLUSIVE = (
    "increase decrease",
    "gain loss",
    "profit loss",
    "east west north south",
    "eastward westward northward southward",
    "left right",
    "up down",
    "upward downward",
    "above below",
    "clockwise counterclockwise",
    "clockwise anticlockwise",
    "boy girl",
    "men women",
    "male female",
    "adult child",
    "adult children",
    "nickel dime quarter penny",
    "nickel dime quarter pennie",
)


def _words(label: str) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in label.split())


_GROUPS = tuple(map(_words, _EXCLUSIVE))


def are_exclusive(a: str, b: str) -> bool:
    """Whether one label has a word that a word of the other excludes: `m east` and `m west`.

    >>> are_exclusive("nickels", "dimes"), are_exclusive("up", "upward")
    (True, False)
    """
    if not a or not b:
        return False
    first = _words(a)
    second = _words(b)
    return any(
        len(group & first) == len(group & second) == 1 and group & first != group & second
        for group in _GROUPS
    )


def are_other_labels(
    a: Sequence[Shape], b: Sequence[Shape], same: Callable[[Shape, Shape], bool | None]
) -> bool:
    """Whether a label that stands once in each of two lists counts another number in the other."""
    first = _by_label(a)
    second = _by_label(b)
    common = first.keys() & second.keys()
    return len(a) > 1 and any(same(first[label], second[label]) is False for label in common)


def _by_label(items: Sequence[Shape]) -> dict[str, Shape]:
    """Return what is counted with each label that stands once."""
    labels = [item.label.removesuffix("s") for item in items if isinstance(item, Scalar)]
    return {
        label: item
        for item in items
        if isinstance(item, Scalar) and (label := item.label.removesuffix("s"))
        if labels.count(label) == 1
    }
