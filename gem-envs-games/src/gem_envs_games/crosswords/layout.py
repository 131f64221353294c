"""Lay words out as a crossword: crossing, connected, nothing touching by accident.

Knows nothing about clues or turns. A grid is a list of rows of one length, `#` where it is black.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

__all__ = ["BLACK", "Entry", "find_entries", "lay_out"]

BLACK = "#"
_Cells = dict[tuple[int, int], str]


class Entry(NamedTuple):
    """A numbered place for a word. Rows and columns count from 0, numbers from 1."""

    number: int
    is_down: bool
    row: int
    col: int
    length: int

    def cells(self) -> list[tuple[int, int]]:
        """Return the row and column of each letter."""
        down = int(self.is_down)
        across = int(not self.is_down)
        return [(self.row + step * down, self.col + step * across) for step in range(self.length)]


def lay_out(words: Iterable[str], num_words: int, rng: Random) -> list[str] | None:
    """Place the first words that fit, in the order given; None where fewer than asked do.

    Each word goes where the grid stays smallest, and `rng` decides between equals.

    >>> lay_out(["STAR", "OOPS", "TEAM"], 2, Random(1))
    ['O###', 'O###', 'P###', 'STAR']
    """
    cells: _Cells = {}
    placed = 0
    for word in words:
        spots = list(_spots(cells, word)) if placed else _first_spots(word)
        if spots:
            cells = min(spots, key=lambda spot: (_area(spot), rng.random()))
            placed += 1
        if placed == num_words:
            return _rows(cells)
    return None


def _first_spots(word: str) -> list[_Cells]:
    return [_run(word, 0, 0, is_down) for is_down in (False, True)]


def _run(word: str, row: int, col: int, is_down: bool) -> _Cells:
    places = Entry(0, is_down, row, col, len(word)).cells()
    return dict(zip(places, word, strict=True))


def _spots(cells: _Cells, word: str) -> Iterable[_Cells]:
    """Return the grid with the word in each place where it crosses another."""
    for (row, col), letter in cells.items():
        for at, own in enumerate(word):
            if own == letter:
                for start_row, start_col, is_down in (
                    (row - at, col, True),
                    (row, col - at, False),
                ):
                    run = _run(word, start_row, start_col, is_down)
                    if _fits(cells, run, is_down):
                        yield {**cells, **run}


def _fits(cells: _Cells, run: _Cells, is_down: bool) -> bool:
    """Tell whether every run of the grid would still be a word that was placed."""
    down = int(is_down)
    across = int(not is_down)
    places = list(run)
    ends = (
        (places[0][0] - down, places[0][1] - across),
        (places[-1][0] + down, places[-1][1] + across),
    )
    if ends[0] in cells or ends[1] in cells:
        return False
    was_crossed = False
    for (row, col), letter in run.items():
        is_crossed = (row, col) in cells
        if is_crossed and (was_crossed or cells[row, col] != letter):
            return False  # two crossed in a row belong to a word of the same direction
        beside = ((row + across, col + down), (row - across, col - down))
        if not is_crossed and (beside[0] in cells or beside[1] in cells):
            return False
        was_crossed = is_crossed
    return True


def _corners(cells: _Cells) -> tuple[range, range]:
    rows, cols = zip(*cells, strict=True)
    return range(min(rows), max(rows) + 1), range(min(cols), max(cols) + 1)


def _area(cells: _Cells) -> int:
    rows, cols = _corners(cells)
    return len(rows) * len(cols)


def _rows(cells: _Cells) -> list[str]:
    rows, cols = _corners(cells)
    return ["".join(cells.get((row, col), BLACK) for col in cols) for row in rows]


def find_entries(rows: Sequence[str]) -> list[Entry]:
    """Return the places for words, numbered in reading order: first across, then down.

    >>> [(entry.number, entry.is_down, entry.length) for entry in find_entries(["STAR", "#E##"])]
    [(1, False, 4), (2, True, 2)]
    """
    starts = [
        (row, col, is_down, length)
        for row in range(len(rows))
        for col in range(len(rows[0]))
        for is_down in (False, True)
        if (length := _length(rows, row, col, is_down)) > 1
    ]
    numbers = {
        start: number
        for number, start in enumerate(dict.fromkeys((row, col) for row, col, _, _ in starts), 1)
    }
    entries = [
        Entry(numbers[row, col], is_down, row, col, length) for row, col, is_down, length in starts
    ]
    return sorted(entries, key=lambda entry: (entry.is_down, entry.number))


def _length(rows: Sequence[str], row: int, col: int, is_down: bool) -> int:
    """Count the letters of the run that starts here; 0 where none does."""
    line = "".join(grid_row[col] for grid_row in rows) if is_down else rows[row]
    place = row if is_down else col
    if place and line[place - 1] != BLACK:
        return 0
    return len(line[place:].split(BLACK, 1)[0])
