"""Work out the series of operations on a matrix of `manipulate_matrix`, read in either way.

Knows nothing about answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["manipulated"]

Matrix = list[list[int]]


def manipulated(
    matrix: Sequence[Sequence[int]], operations: Sequence[Mapping[str, Any]], *, flips: bool
) -> Matrix:
    """Return what the operations make of a matrix, in their order.

    To mirror horizontally is to mirror at the horizontal axis, as the library has it, or with
    `flips` to exchange left and right, as programs for images have it; vertically the other.

    >>> manipulated([[1, 2], [3, 4]], [{"transform": "hmirror"}], flips=False)
    [[3, 4], [1, 2]]
    >>> manipulated([[1, 2], [3, 4]], [{"transform": "hmirror"}], flips=True)
    [[2, 1], [4, 3]]
    """
    made = [list(row) for row in matrix]
    for operation in operations:
        name = operation["transform"]
        if name in ("hmirror", "vmirror"):
            made = made[::-1] if (name == "hmirror") != flips else [row[::-1] for row in made]
        else:
            made = _after(made, name, operation)
    return made


def _after(matrix: Matrix, name: str, operation: Mapping[str, Any]) -> Matrix:
    """Return what an operation that has one meaning makes of a matrix."""
    if name == "rotate":
        for _ in range(int(operation["degrees"]) // 90 % 4):
            matrix = [list(column) for column in zip(*matrix[::-1], strict=True)]
        return matrix
    if name == "dmirror":
        return [list(column) for column in zip(*matrix, strict=True)]
    if name == "cmirror":
        return [list(column)[::-1] for column in zip(*matrix, strict=True)][::-1]
    if name == "map":
        known = {operation["from"]: operation["to"]}
        return [[known.get(number, number) for number in row] for row in matrix]
    if name == "zero_divisible":
        return [[number if number % operation["k"] else 0 for number in row] for row in matrix]
    if name == "crop":
        rows = matrix[operation["row_start"] - 1 : operation["row_end"]]
        return [row[operation["col_start"] - 1 : operation["col_end"]] for row in rows]
    if name == "remove_every_nth_row":
        return [row for at, row in enumerate(matrix, start=1) if at % operation["n"]]
    if name == "remove_every_nth_col":
        return [[n for at, n in enumerate(row, start=1) if at % operation["n"]] for row in matrix]
    return matrix
