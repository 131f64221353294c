"""What the numbers of a minefield tell, and fields that never need a guess.

Knows nothing about turns or rewards. Masks of cells are those of `minesweeper_field`. A clue is
`(cells, mines)`: of these hidden cells exactly so many are mines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb
from random import Random
from typing import NamedTuple

from gem_envs_games.minesweeper.field import cells_of, every_cell, flood, near, spread

__all__ = ["Field", "chances", "deduce", "laid", "safest", "sure_field", "sure_order"]

Clue = tuple[int, int]

_MOST_STATES = 200_000  # half a second; the registered sizes need a few thousand
_BITS = 4  # of a clue's count, at most 8, in the states of `_ways`


class Field(NamedTuple):
    """A field that can be won by deduction alone.

    `opened` is shown at the start, and each cell of `order` is certain once those before it are
    revealed.
    """

    mines: int
    opened: int
    order: tuple[int, ...]


def laid(rng: Random, start: int, inside: int, num_mines: int, width: int) -> int:
    """Draw the places of the mines, none of them at `start` or next to it."""
    free = list(cells_of(inside & ~near(start, width)))
    return sum([1 << cell for cell in rng.sample(free, num_mines)])


def _room(start: int, inside: int, width: int) -> int:
    """Return for how many mines there is room away from `start`."""
    return (inside & ~near(start, width)).bit_count()


def clues(hidden: int, inside: int, mines: int, width: int) -> list[Clue]:
    """Return what the revealed numbers next to hidden cells say."""
    found_clues = []
    for cell in cells_of(spread(hidden, width) & inside & ~hidden):
        around = near(cell, width)
        found_clues.append((around & hidden, (around & mines).bit_count()))
    return found_clues


def deduce(given: Iterable[Clue]) -> tuple[int, int, set[Clue]]:
    """Return the cells that are safe, those that are mines, and what is left of the clues.

    Compares clues one by one and two by two until nothing follows: fast and sound, though not
    complete.

    >>> deduce([(0b011, 1), (0b111, 1)])
    (4, 0, {(3, 1)})
    """
    safe = mined = 0
    left = set(given)
    while True:
        known = safe | mined
        simpler = set[Clue]()
        for cells, number in left:
            unknown = cells & ~(safe | mined)
            mines = number - (cells & mined).bit_count()
            if not mines:
                safe |= unknown
            elif mines == unknown.bit_count():
                mined |= unknown
            else:
                simpler.add((unknown, mines))
        left = simpler
        if safe | mined == known:
            more_safe, more_mined = _compared(sorted(left))
            if not more_safe | more_mined:
                return safe, mined, left
            safe = safe | more_safe
            mined = mined | more_mined


def _compared(left: Sequence[Clue]) -> tuple[int, int]:
    """Return the safe cells and the mines that follow from two clues with cells in common."""
    safe = mined = 0
    for cells, mines in left:
        for others, fewer in left:
            if fewer > mines or not cells & others:
                continue
            # Where the surplus fills what the other clue leaves out, the rest is settled too.
            if mines - fewer == (cells & ~others).bit_count():
                mined |= cells & ~others
                safe |= others & ~cells
    return safe, mined


def chances(
    given: Sequence[Clue], loose: int, mines: int, *, most_states: int = _MOST_STATES
) -> list[Clue] | None:
    """Count, for groups of cells, in how many of all fields that fit one such cell is a mine.

    Returns `(cells, count)` pairs, every cell of a group alike; a count of 0 is safe, and counts
    of different groups compare. `loose` are the hidden cells of no clue, and `mines` the mines
    in all of these. None where the fields are too many to count.
    """
    groups = _groups([cells for cells, _ in given])
    most_states //= len(groups) + 1
    free = loose.bit_count()
    counts = []
    for place, cells in enumerate(groups):
        ways = _ways(groups, given, place, most_states)
        if ways is None:
            return None
        counts.append((cells, sum(n * _comb(free, mines - used) for used, n in ways.items())))
    if loose:
        ways = _ways(groups, given, None, most_states)
        if ways is None:
            return None
        count = sum(n * _comb(free - 1, mines - used - 1) for used, n in ways.items())
        counts.append((loose, count))
    return counts


def _comb(cells: int, mines: int) -> int:
    return comb(cells, mines) if mines >= 0 else 0


def _groups(masks: Sequence[int]) -> list[int]:
    """Split the cells of overlapping masks into those that lie in the same masks.

    Neighbours stand close in the list, which keeps the states of `_ways` few.
    """
    groups = list[int]()
    ahead = list(masks)
    while ahead:
        touched = ahead.pop(0)
        parts = [touched]
        for mask in masks:
            parts = [part for old in parts for part in (old & mask, old & ~mask) if part]
        groups += [part for part in parts if part not in groups]
        ahead.sort(key=lambda mask: not mask & touched)
    return groups


def _ways(
    groups: Sequence[int], remaining: Sequence[Clue], sure: int | None, most_states: int
) -> dict[int, int] | None:
    """Map numbers of mines to the ways to lay them that fit the clues.

    Where `sure` is the place of a group, one certain cell of it is a mine. A state packs what
    every clue still needs, and above that the mines laid. None past `most_states`.
    """
    top = _BITS * len(remaining)
    state = sum(mines << _BITS * i for i, (_, mines) in enumerate(remaining))
    states = {state: 1}
    unseen = [cells for cells, _ in remaining]
    for place, group in enumerate(groups):
        inside = [i for i, (cells, _) in enumerate(remaining) if cells & group]
        size = group.bit_count()
        step = (1 << top) - sum(1 << _BITS * i for i in inside)
        unseen = [cells & ~group for cells in unseen]
        closing = sum(15 << _BITS * i for i in inside if not unseen[i])
        least = 1 if place == sure else 0
        after: dict[int, int] = {}
        for state, ways in states.items():
            most = min(size, *(state >> _BITS * i & 15 for i in inside))
            for number in range(least, most + 1):
                key = state + number * step
                if not key & closing:
                    more = ways * comb(size - least, number - least)
                    after[key] = after.get(key, 0) + more
        states = after
        most_states -= len(states)
        if most_states < 0:
            return None
    return {state >> top: ways for state, ways in states.items()}


def safest(
    hidden: int, inside: int, mines: int, width: int, *, most_states: int = _MOST_STATES
) -> tuple[int, bool]:
    """Return the hidden cells that are least likely mines, and whether they certainly are none.

    Knows the revealed numbers and how many mines there are, never where. Of `mines` only what
    these numbers show is used. Where the fields that fit are too many to count, it goes by the
    most pressing clue of each cell.
    """
    safe, mined, left = deduce(clues(hidden, inside, mines, width))
    if safe:
        return safe, True
    remaining = sorted(left)
    loose = hidden & ~mined
    for cells, _ in remaining:
        loose &= ~cells
    unplaced = mines.bit_count() - mined.bit_count()
    counts = chances(remaining, loose, unplaced, most_states=most_states)
    if counts is None:
        return _least(_pressures(remaining, loose, unplaced)), False
    return _least(counts), not min(count for _, count in counts)


def _least(counts: Iterable[tuple[int, float]]) -> int:
    counts = list(counts)
    least = min(count for _, count in counts)
    return sum(cells for cells, count in counts if count == least)


def _pressures(remaining: Sequence[Clue], loose: int, mines: int) -> list[tuple[int, float]]:
    """Estimate what share of each group of cells are mines: the largest share of its clues."""
    pressures = []
    for cells in _groups([around for around, _ in remaining]):
        shares = [n / around.bit_count() for around, n in remaining if around & cells]
        pressures.append((cells, max(shares)))
    hidden = sum(cells for cells, _ in pressures) | loose
    return [*pressures, (loose, mines / hidden.bit_count())] if loose else pressures


def sure_order(opened: int, inside: int, mines: int, width: int) -> tuple[int, ...] | None:
    """Return cells to reveal, one after the other, each certain by then; None at a guess."""
    hidden = inside & ~opened
    order = list[int]()
    while hidden != mines:
        safe, is_sure = safest(hidden, inside, mines, width)
        if not is_sure:
            return None
        for cell in cells_of(safe):
            if hidden >> cell & 1:
                hidden &= ~flood(cell, hidden, mines, width)
                order.append(cell)
    return tuple(order)


def sure_field(
    rng: Random, rows: int, cols: int, num_mines: int, most_turns: int, *, tries: int
) -> Field | None:
    """Draw a field that deduction wins in `most_turns`, at most half of it open at the start.

    None where no try succeeds.
    """
    inside = every_cell(rows, cols)
    width = cols + 1
    most_open = (rows * cols - num_mines) // 2
    cells = [cell for cell in cells_of(inside) if _room(cell, inside, width) >= num_mines]
    for _ in range(tries if cells else 0):
        start = rng.choice(cells)
        mines = laid(rng, start, inside, num_mines, width)
        opened = flood(start, inside, mines, width)
        if opened.bit_count() <= most_open:
            order = sure_order(opened, inside, mines, width)
            if order and len(order) <= most_turns:
                return Field(mines, opened, order)
    return None
