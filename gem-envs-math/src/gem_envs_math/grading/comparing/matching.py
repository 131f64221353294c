"""Match the items of two lists without order, one to one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["match"]

T = TypeVar("T")
Same = Callable[[T, T], bool | None]


def match(a: Sequence[T], b: Sequence[T], same: Same[T], *, as_sets: bool = False) -> bool | None:
    """Whether two lists hold the same items in any order; None where `same` does not know.

    `as_sets` counts an item that is repeated once.

    >>> match([1, 2, 2], [2, 1], lambda x, y: x == y, as_sets=True)
    True
    """
    if as_sets:
        a = _distinct(a, same)
        b = _distinct(b, same)
    if len(a) != len(b):
        return False
    certain: list[list[bool]] = []  # the pairs that are the same, a row for each of `a`
    possible: list[list[bool]] = []  # and those that may be
    for x in a:
        truths = [same(x, y) for y in b]
        certain.append([truth is True for truth in truths])
        possible.append([truth is not False for truth in truths])
    if _is_perfect(certain):
        return True
    return None if _is_perfect(possible) else False


def _distinct(items: Sequence[T], same: Same[T]) -> list[T]:
    distinct: list[T] = []
    for item in items:
        if not any(same(item, other) for other in distinct):
            distinct.append(item)
    return distinct


def _is_perfect(edges: list[list[bool]]) -> bool:
    """Whether every row finds a column of its own (Kuhn's algorithm)."""
    owners: list[int | None] = [None] * len(edges)
    return all(_place(row, edges, owners, set()) for row in range(len(edges)))


def _place(row: int, edges: list[list[bool]], owners: list[int | None], seen: set[int]) -> bool:
    for column, is_edge in enumerate(edges[row]):
        if is_edge and column not in seen:
            seen.add(column)
            owner = owners[column]
            if owner is None or _place(owner, edges, owners, seen):
                owners[column] = row
                return True
    return False
