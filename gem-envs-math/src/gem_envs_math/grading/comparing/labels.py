"""Tell whether two lists of counts are of other things: `5 boys, 7 girls` and `7 boys, 5 girls`.

A label says nothing about one number; among several it says which is which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gem_envs_math.grading.reading.shapes import Scalar, Shape

__all__ = ["are_other_labels"]


def are_other_labels(
    a: Sequence[Shape], b: Sequence[Shape], same: Callable[[Shape, Shape], bool | None]
) -> bool:
    """Whether a label that stands once in each of two lists counts another number in the other."""
    first, second = _by_label(a), _by_label(b)
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
