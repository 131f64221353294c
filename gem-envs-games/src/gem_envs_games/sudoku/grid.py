"""Solve and make Sudokus. Knows nothing about turns, rewards or texts.

A grid is a sequence of digits, row by row, 0 where a cell is empty. Inside, digit d is the bit
`1 << (d - 1)`, and a unit is a row, a column or a box.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count
from math import isqrt
from random import Random

__all__ = ["dig", "full_grid", "next_digit", "solved"]

Units = tuple[int, int, int]

_MOST_TRIES = 1000  # the puzzles made here need a few dozen


@lru_cache(maxsize=8)
def _units(scale: int) -> tuple[Units, ...]:
    """Return for every cell the numbers of its row, column and box among all units."""
    side = isqrt(scale)
    return tuple(
        (row, scale + col, 2 * scale + row // side * side + col // side)
        for row in range(scale)
        for col in range(scale)
    )


def full_grid(rng: Random, scale: int) -> list[int]:
    """Draw a grid with every cell filled: any first row can be completed, by renaming digits."""
    first = rng.sample(range(1, scale + 1), scale)
    filled = solved([*first, *[0] * (scale**2 - scale)], rng)
    assert filled is not None
    return filled


def dig(rng: Random, grid: Sequence[int], attempts: int, most: int) -> list[int]:
    """Return cells that can be emptied, at most `most`, so that one solution remains.

    Tries `attempts` cells, drawn at random: one stays filled where another digit could stand.
    """
    scale = isqrt(len(grid))
    units = _units(scale)
    every_digit = (1 << scale) - 1
    used = [every_digit] * (3 * scale)
    emptied = list[int]()
    for cell in rng.sample(range(len(grid)), attempts):
        if len(emptied) == most:
            break
        bit = 1 << grid[cell] - 1
        row, col, box = units[cell]
        used[row] ^= bit
        used[col] ^= bit
        used[box] ^= bit
        others = every_digit & ~(used[row] | used[col] | used[box] | bit)
        # The quick proofs that no other digit can stand here come before the search.
        if (
            not others
            or _has_one_place(cell, bit, emptied, used, units)
            or not any(_fits(cell, other, emptied, used, units) for other in _bits(others))
        ):
            emptied.append(cell)
        else:
            used[row] |= bit
            used[col] |= bit
            used[box] |= bit
    return emptied


def _has_one_place(
    cell: int, bit: int, empty: Sequence[int], used: Sequence[int], units: Sequence[Units]
) -> bool:
    """Tell whether some unit of a cell has no other of the empty cells for a digit."""
    for unit in units[cell]:
        for other in empty:
            row, col, box = units[other]
            if unit in units[other] and not (used[row] | used[col] | used[box]) & bit:
                break
        else:
            return True
    return False


def _fits(
    cell: int, bit: int, empty: Sequence[int], used: Sequence[int], units: Sequence[Units]
) -> bool:
    """Tell whether the empty cells can be filled around this digit, or that may be too long."""
    used = _with(used, units[cell], bit)
    return _completed(empty, used, units, iter(range(_MOST_TRIES))) is not None


def solved(grid: Sequence[int], rng: Random | None = None) -> list[int] | None:
    """Return the grid completed, None if it cannot be; `rng` draws one of several solutions.

    >>> solved([1, 2, 3, 4, 0, 0, 1, 2, 2, 0, 0, 0, 0, 0, 0, 0])
    [1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 2, 1]
    """
    units = _units(isqrt(len(grid)))
    used = _used(grid)
    empty = [cell for cell, digit in enumerate(grid) if not digit]
    placements = _completed(empty, used, units, count(), rng)
    if placements is None:
        return None
    filled = list(grid)
    for cell, bit in placements:
        filled[cell] = bit.bit_length()
    return filled


def _completed(
    empty: Sequence[int],
    used: list[int],
    units: Sequence[Units],
    tries: Iterator[int],
    rng: Random | None = None,
) -> list[tuple[int, int]] | None:
    """Fill the empty cells, changing `used`; return cells with their bits, None if it cannot be.

    Once `tries` are at an end it returns an unfinished list.
    """
    every_digit = (1 << len(used) // 3) - 1
    placed = list[tuple[int, int]]()
    # Fill cells that have one digit left, until there are none; then try the cell with fewest.
    while True:
        rest = list[int]()
        fewest = every_digit
        for cell in empty:
            row, col, box = units[cell]
            free = every_digit & ~(used[row] | used[col] | used[box])
            if free & (free - 1):  # two bits or more
                rest.append(cell)
                number = free.bit_count()
                if number < fewest:
                    fewest = number
                    best = cell
                    options = free
            elif free:
                used[row] |= free
                used[col] |= free
                used[box] |= free
                placed.append((cell, free))
            else:
                return None
        if not rest:
            return placed
        if len(rest) == len(empty):
            break
        empty = rest
    if next(tries, None) is None:
        return placed
    rest.remove(best)
    for bit in _bits(options, rng):
        following = _completed(rest, _with(used, units[best], bit), units, tries, rng)
        if following is not None:
            return [*placed, (best, bit), *following]
    return None


def _bits(mask: int, rng: Random | None = None) -> list[int]:
    bits = [1 << place for place in range(mask.bit_length()) if mask >> place & 1]
    if rng:
        rng.shuffle(bits)
    return bits


def _used(grid: Sequence[int]) -> list[int]:
    """Return for every unit the digits that stand in it."""
    scale = isqrt(len(grid))
    used = [0] * (3 * scale)
    for digit, units in zip(grid, _units(scale), strict=True):
        for unit in units:
            used[unit] |= 1 << digit >> 1
    return used


def _with(used: Sequence[int], units: Units, bit: int) -> list[int]:
    more = list(used)
    for unit in units:
        more[unit] |= bit
    return more


def next_digit(grid: Sequence[int]) -> tuple[int, int] | None:
    """Return an empty cell and its digit: what follows at once comes first. None if there is none.

    A cell for which one digit is left, then a digit for which one cell of a unit is left, then
    the first empty cell by search.

    >>> next_digit([1, 2, 3, 4, 0, 0, 1, 2, 2, 0, 0, 0, 0, 0, 0, 0])
    (10, 4)
    """
    scale = isqrt(len(grid))
    units = _units(scale)
    used = _used(grid)
    every_digit = (1 << scale) - 1
    free = {
        cell: every_digit & ~(used[row] | used[col] | used[box])
        for cell, (row, col, box) in enumerate(units)
        if not grid[cell]
    }
    for cell, bits in free.items():
        if bits.bit_count() == 1:
            return cell, bits.bit_length()
    once = [0] * (3 * scale)
    twice = [0] * (3 * scale)
    for cell, bits in free.items():
        for unit in units[cell]:
            twice[unit] |= once[unit] & bits
            once[unit] |= bits
    for cell, bits in free.items():
        for unit in units[cell]:
            only = bits & ~twice[unit]
            if only.bit_count() == 1:
                return cell, only.bit_length()
    filled = solved(grid) if free else None
    return next(((cell, filled[cell]) for cell in free), None) if filled else None
