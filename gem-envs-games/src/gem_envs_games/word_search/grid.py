"""Hide words in a square of letters, each to be found once and nothing else in its place.

Knows nothing about turns. A grid is a text of `side * side` letters, row after row; a run is the
range of the cells that a straight stretch of it takes up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from random import Random
from string import ascii_lowercase
from typing import NamedTuple

__all__ = ["Hidden", "find_runs", "hide", "lines"]

_MOST_TRIES = 200
Run = range


class Hidden(NamedTuple):
    """A grid, and the run of each of its words, in their order."""

    grid: str
    runs: list[Run]


@lru_cache(100)
def lines(side: int, *, every_way: bool = False) -> tuple[Run, ...]:
    """Return every row and column as a run; with `every_way` slanted and backward ones as well.

    >>> [list(line) for line in lines(2)]
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    area = side * side
    rows = [range(side * row, side * (row + 1)) for row in range(side)]
    columns = [range(col, area, side) for col in range(side)]
    if not every_way:
        return (*rows, *columns)
    slanted = [
        run
        for at in range(side)
        for run in (
            range(at, area - side * at, side + 1),
            range(side * at, area - at, side + 1),
            range(at, side * at + 1, side - 1),
            range(side * (at + 1) - 1, area - side + at + 1, side - 1),
        )
    ]
    forward = dict.fromkeys((*rows, *columns, *slanted))
    return (*forward, *(run[::-1] for run in forward))


def find_runs(
    grid: Sequence[str],
    among: Iterable[Run],
    lengths: Iterable[int],
    is_target: Callable[[str], bool],
) -> list[Run]:
    """Return the runs of these lengths within lines whose text is a target."""
    lengths = sorted(set(lengths))
    runs: list[Run] = []
    for line in among:
        text = "".join([grid[cell] for cell in line])
        runs += [
            line[start : start + length]
            for length in lengths
            for start in range(len(text) - length + 1)
            if is_target(text[start : start + length])
        ]
    return runs


def hide(
    words: Sequence[str],
    side: int,
    rng: Random,
    is_target: Callable[[str], bool],
    *,
    every_way: bool,
) -> Hidden | None:
    """Hide words, across or down, and fill the rest; None where that came to a dead end.

    No other run of the lengths of `words` is a target: none across or down, and with
    `every_way` none in any of the eight directions.
    """
    cells: dict[int, str] = {}
    runs = [_place(word, side, rng, cells) for word in words]
    placed = [run for run in runs if run is not None]
    if len(placed) < len(words):
        return None
    area = range(side * side)
    grid = [cells.get(cell) or rng.choice(ascii_lowercase) for cell in area]
    among = lines(side, every_way=every_way)
    lengths = set(map(len, words))
    for _ in range(_MOST_TRIES):
        by_chance = [run for run in find_runs(grid, among, lengths, is_target) if run not in placed]
        loose = [_free_cells(run, cells) for run in by_chance]
        if not loose:
            return Hidden("".join(grid), placed)
        if not all(loose):
            return None
        for free in loose:
            grid[rng.choice(free)] = rng.choice(ascii_lowercase)
    return None


def _free_cells(run: Run, cells: dict[int, str]) -> list[int]:
    """Return those cells of a run that no hidden word needs: they may be drawn again."""
    return [cell for cell in run if cell not in cells]


def _place(word: str, side: int, rng: Random, cells: dict[int, str]) -> Run | None:
    """Add a word to the cells, across or down, over letters of its own at most."""
    for _ in range(_MOST_TRIES):
        line = rng.choice(lines(side))
        start = rng.randrange(side - len(word) + 1)
        run = line[start : start + len(word)]
        if all(cells.get(cell, letter) == letter for cell, letter in zip(run, word, strict=True)):
            cells.update(zip(run, word, strict=True))
            return run
    return None
