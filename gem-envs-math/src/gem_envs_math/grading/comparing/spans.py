"""Say whether vectors span one space: (1,0) and (1,1) span what (0,1) and (1,0) do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gem_envs_math.grading.arithmetic.field import Field
from gem_envs_math.grading.reading.shapes import Group, Matrix, Scalar, Shape

__all__ = ["rank", "same_space"]

_MOST = 10  # vectors, and their components: the time grows with the third power


def rank(rows: Sequence[Sequence[Any]], does: Any, is_zero: Callable[[Any], bool]) -> int:
    """Return the rank of a matrix in the numbers of an arithmetic."""
    left = [list(row) for row in rows]
    pivots = 0
    for column in range(len(rows[0])):
        pivot = next((row for row in left if not is_zero(row[column])), None)
        if pivot is None:
            continue
        left.remove(pivot)
        pivots += 1
        for row in left:
            factor = does.divide(row[column], pivot[column])
            for at, value in enumerate(pivot):
                row[at] = does.add(row[at], does.negate(does.multiply(factor, value)))
    return pivots


def same_space(a: Group, b: Group) -> bool | None:
    """Whether two lists of vectors span one space; None where no exact rule compares them."""
    first = [vector for vector in map(_vector, a.items) if vector is not None]
    second = [vector for vector in map(_vector, b.items) if vector is not None]
    if len(first) < len(a.items) or len(second) < len(b.items):
        return None
    if len({len(vector) for vector in (*first, *second)}) != 1:
        return False
    if max(len(first), len(second), len(first[0])) > _MOST:
        return None
    field = Field()
    ranks = [
        rank(rows, field, lambda value: field.equal(value, 0))
        for rows in (first, second, [*first, *second])
    ]
    return len(set(ranks)) == 1


def _vector(shape: Shape) -> Sequence[Any] | None:
    """Return the values of a tuple or a column, None for anything else."""
    items: Sequence[Shape] = ()
    if isinstance(shape, Group) and shape.opener in ("(", "[", "<<"):
        items = shape.items
    elif isinstance(shape, Matrix) and 1 in (len(shape.rows), len(shape.rows[0])):
        items = [cell for row in shape.rows for cell in row]
    values = [
        item.value
        for item in items
        if isinstance(item, Scalar) and not item.is_opaque and item.unit is None
    ]
    return values if values and len(values) == len(items) else None
