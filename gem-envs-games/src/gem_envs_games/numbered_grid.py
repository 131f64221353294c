"""Draw a grid of characters under the numbers of its columns and beside those of its rows."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["draw_grid", "place_in_grid"]


def draw_grid(rows: Sequence[str]) -> str:
    """Return the grid as text. Rows and columns count from 0, and there are at most 100.

    >>> print(draw_grid(["AB", "CD"]))
       0 1
     0 A B
     1 C D
    """
    pitch = _pitch(len(rows[0]))
    lines = ["  " + "".join(f"{col:>{pitch}}" for col in range(len(rows[0])))]
    for number, row in enumerate(rows):
        lines.append(f"{number:>2}" + "".join([cell.rjust(pitch) for cell in row]))
    return "\n".join(lines)


def place_in_grid(width: int, row: int, col: int) -> int:
    """Return where a cell stands in the text that `draw_grid` gave.

    >>> draw_grid(["AB", "CD"])[place_in_grid(2, 1, 0)]
    'C'
    """
    pitch = _pitch(width)
    return (row + 1) * (3 + pitch * width) + pitch * (col + 1) + 1


def _pitch(width: int) -> int:
    return 2 if width <= 10 else 3
