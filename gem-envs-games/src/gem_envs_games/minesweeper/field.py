"""A minefield as bits of integers, and as text. Knows nothing about turns, rewards or chance.

A field of `cols` columns has a width of `cols + 1`: the cell in row r and column c, both from 0,
is bit `(r + 1) * width + c + 1`. The bits between the rows stay 0, so that shifting a mask by a
row or a column needs no care at the edges.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["blank", "cells_of", "drawn", "every_cell", "flood", "marked", "near", "spread"]


def every_cell(rows: int, cols: int) -> int:
    """Return the mask of all cells.

    >>> every_cell(2, 3) == 0b1110_1110_0000
    True
    """
    row = ((1 << cols) - 1) << 1
    return sum(row << (cols + 1) * (r + 1) for r in range(rows))


def cells_of(mask: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def near(cell: int, width: int) -> int:
    """Return the 3x3 around a cell, itself included; it may hold bits outside the field."""
    return (7 | 7 << width | 7 << 2 * width) << (cell - width - 1)


def spread(mask: int, width: int) -> int:
    """Return the cells of a mask and all that touch them; it may hold bits outside the field."""
    wide = mask | mask << 1 | mask >> 1
    return wide | wide << width | wide >> width


def flood(cell: int, closed: int, mines: int, width: int) -> int:
    """Return what revealing the safe `cell` opens: itself and, from cells near no mine, all around.

    Only cells of `closed` open, `cell` among them.
    """
    opened = 1 << cell
    blank = ~spread(mines, width)
    edge = opened & blank
    while edge:
        edge = spread(edge, width) & closed & ~opened
        opened |= edge
        edge &= blank
    return opened


def blank(rows: int, cols: int) -> str:
    """Return the text of a field with nothing revealed: a line of column numbers, then the rows.

    >>> print(blank(2, 3))
         0  1  2
     0   .  .  .
     1   .  .  .
    """
    head = "".join(f"{col:3}" for col in range(cols))
    return "\n".join([f"   {head}", *(f"{row:2} {'  .' * cols}" for row in range(rows))])


def marked(text: str, cell: int, width: int, mark: str) -> str:
    """Return the text with one character at a cell."""
    place = 3 * cell + cell // width + 2
    return f"{text[:place]}{mark}{text[place + 1 :]}"


def drawn(text: str, opened: int, mines: int, width: int) -> str:
    """Return the text with these cells opened: `*` on a mine, else the number of mines around."""
    characters = list(text)
    around = 7 | 7 << width | 7 << 2 * width
    while opened:
        low = opened & -opened
        cell = low.bit_length() - 1
        number = (mines & around << (cell - width - 1)).bit_count()
        characters[3 * cell + cell // width + 2] = "*" if mines & low else str(number)
        opened ^= low
    return "".join(characters)
