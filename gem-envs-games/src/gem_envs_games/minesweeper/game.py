"""Reveal every safe cell of a minefield from the numbers of mines around."""

from __future__ import annotations

from functools import lru_cache
from random import Random

from gem.env import Step
from gem.errors import BadArguments
from gem_envs_games.game import Game
from gem_envs_games.minesweeper.field import (
    blank,
    cells_of,
    drawn,
    every_cell,
    flood,
    marked,
    near,
    spread,
)
from gem_envs_games.minesweeper.logic import Field, laid, safest, sure_field
from gem_envs_games.parsing import integers, reader
from gem_envs_games.rewards import PUBLISHED, Rewards

__all__ = ["Minesweeper"]

_SIDES = (5, 6, 7, 8)
_LONGEST = 30
_ROW = r"^ *\d+   [\d.F* ]+$"  # a row of the board, behind its number
_TRIES = 200  # the registered sizes need 7 on average at most

Size = tuple[int, int, int]
"""Rows, columns and mines."""


def _cell(mark: str) -> str:
    """Return a pattern for the cells with this mark: the first behind the row's number, others."""
    return rf"(?<=\d   ){mark}(?!\d)|(?<=[\d.F*]  ){mark}(?!\d)"


class Minesweeper(Game):
    """Reveal every cell of `rows` by `cols` that holds none of `num_mines`, in `max_turns` turns.

    The mines are laid at the first reveal, none at that cell or next to it. With `no_guess` a
    first area is open at the start instead, and all that is safe follows from what is seen. An
    argument that is None is drawn anew for every episode: a square of 5 to 8, a fifth of it
    mines, and a turn for every cell. Every safe cell earns its share of the reward.
    """

    highlights = (
        (_ROW, _cell("1"), "blue"),
        (_ROW, _cell("2"), "green"),
        (_ROW, _cell("[3-8]"), "red"),
        (_ROW, _cell("F"), "yellow"),
        (_ROW, _cell("[.]"), "grey"),
    )

    def __init__(
        self,
        rows: int | None = 8,
        cols: int | None = 8,
        num_mines: int | None = 12,
        max_turns: int | None = 64,
        no_guess: bool = False,
        rewards: Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        self.no_guess = no_guess
        self._given_size = rows, cols, num_mines
        _sizes(*self._given_size, max_turns, no_guess)  # refuses what cannot be played

    def deal(self) -> None:
        sizes = _sizes(*self._given_size, self._given_turns, self.no_guess)
        self.rows, self.cols, self.num_mines = size = self.rng.choice(sizes)
        self.max_turns = turns = self._given_turns or self.rows * self.cols
        self._flags = self._mines = 0  # no mines: not laid yet
        self._order: tuple[int, ...] = ()
        self._hidden = every_cell(self.rows, self.cols)
        self._text = blank(self.rows, self.cols)
        if self.no_guess:
            field = sure_field(self.rng, *size, turns, tries=_TRIES) or _known_field(*size, turns)
            assert field is not None  # or the constructor had refused
            self._mines, opened, self._order = field
            self._open(opened)
        self._to_open = self._hidden.bit_count() - self.num_mines

    def instructions(self) -> str:
        start = (
            "A first area is already revealed, and from there every safe cell follows from what "
            "you see: you never need to guess."
            if self.no_guess
            else "The first cell that you reveal holds no mine, and neither does any next to it."
        )
        return (
            "You are playing Minesweeper.\n"
            f"The field has {self.rows} rows and {self.cols} columns, both numbered from 0, and "
            f"{self.num_mines} mines under its cells. Reveal every cell that holds no mine. You "
            f"have {self.max_turns} turns.\n"
            "A revealed cell shows how many of the up to 8 cells around it hold a mine; where "
            "that is 0, the cells around it are revealed too. On the board . is a hidden cell and "
            "F a flag. Revealing a mine ends the game. "
            f"{start}\n"
            "Each turn you either reveal a cell, or flag it: a flag is a note to yourself, keeps "
            "the cell from being revealed, and is taken away by flagging the cell again. "
            "Revealing a flagged cell, or doing anything to a revealed one, is refused and still "
            "costs a turn.\n"
            "Write what you like, but give your action as reveal or flag, then row and column, in "
            f"\\boxed{{}}, for example {self._example()}. Only the last one counts. An answer "
            "without it ends the game."
        )

    def expected(self) -> str:
        return f"reveal or flag, a row and a column in \\boxed{{}}, for example {self._example()}"

    def _example(self) -> str:
        return f"\\boxed{{reveal {self.rows - 1} 0}}"

    def suffix(self) -> str:
        return f"The board:\n{self._text}\nEnter your next action."

    def step(self, action: str) -> Step:
        move = _read(action)
        if move is None:
            return self._malformed()
        verb, row, col = move
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            return self._refuse(
                f"you named row {row}, column {col}, which is not on the board of {self.rows} "
                f"rows and {self.cols} columns, numbered from 0."
            )
        width = self.cols + 1
        cell = (row + 1) * width + col + 1
        if not self._hidden >> cell & 1:
            return self._refuse(f"row {row}, column {col} is already revealed.")
        if verb == "reveal":
            return self._reveal(cell, f"row {row}, column {col}")
        if verb != "flag":
            return self._refuse("you can only reveal a cell or flag it.")
        self._flags ^= 1 << cell
        is_set = self._flags >> cell & 1
        self._text = marked(self._text, cell, width, "F" if is_set else ".")
        done = "set a flag on" if is_set else "took the flag from"
        return self._go_on(f"you {done} row {row}, column {col}.", {"step": self.rewards.step})

    def _reveal(self, cell: int, name: str) -> Step:
        if self._flags >> cell & 1:
            return self._refuse(f"{name} has a flag. Take it away first, by flagging it again.")
        width = self.cols + 1
        if not self._mines:
            inside = every_cell(self.rows, self.cols)
            self._mines = laid(self.rng, cell, inside, self.num_mines, width)
        if self._mines >> cell & 1:
            return self._explode(name)
        around = (self._mines & near(cell, width)).bit_count()
        if around:
            opened = 1
            self._hidden ^= 1 << cell
            self._text = marked(self._text, cell, width, str(around))
        else:
            opening = flood(cell, self._hidden & ~self._flags, self._mines, width)
            opened = opening.bit_count()
            self._open(opening)
        progress = self.rewards.success * opened / self._to_open
        if self._hidden == self._mines:
            return self._win(
                f"you revealed {name}, and with it every safe cell. Congratulations!",
                {"progress": progress},
            )
        return self._go_on(
            f"you revealed {name}, with {around} mine(s) around it. Cells revealed: {opened}.",
            {"step": self.rewards.step, "progress": progress},
        )

    def _open(self, opening: int) -> None:
        self._hidden &= ~opening
        self._text = drawn(self._text, opening, self._mines, self.cols + 1)

    def _explode(self, name: str) -> Step:
        board = drawn(self._text, self._mines, self._mines, self.cols + 1)
        return self._lose(
            f"you revealed {name}, which holds a mine. The game is over. "
            f"Mines are shown as *:\n{board}"
        )

    def sample_action(self) -> str:
        cell = self.sample_rng.choice(list(cells_of(self._hidden)))
        is_note = self._flags >> cell & 1 or self.sample_rng.random() < 0.1
        return self._boxed("flag" if is_note else "reveal", cell)

    def solve(self) -> str:
        """Reveal a cell that is certainly safe, or else one that is least likely a mine."""
        cell = self._next_cell()
        return self._boxed("flag" if self._flags >> cell & 1 else "reveal", cell)

    def _next_cell(self) -> int:
        inside = every_cell(self.rows, self.cols)
        width = self.cols + 1
        if not self._mines:
            return (self.rows // 2 + 1) * width + self.cols // 2 + 1
        zeros = inside & ~self._hidden & ~spread(self._mines, width)
        held_back = spread(zeros, width) & self._hidden  # by flags
        if not held_back:
            for cell in self._order:  # follows from what is seen by now: see Field
                if self._hidden >> cell & 1:
                    return cell
            held_back, _ = safest(self._hidden, inside, self._mines, width)
        return next(cells_of(held_back))

    def _boxed(self, verb: str, cell: int) -> str:
        row, col = divmod(cell, self.cols + 1)
        return f"\\boxed{{{verb} {row - 1} {col - 1}}}"


def _read_move(words: list[str]) -> tuple[str, int, int] | None:
    """Read `reveal 2 3` or `Reveal: (2, 3)`; the verb may be any word."""
    if len(words) != 3:
        return None
    verb = words[0].rstrip(":").lower()
    place = integers(words[1:])
    return (verb, place[0], place[1]) if verb.isalpha() and verb.isascii() and place else None


_read = reader(_read_move)


@lru_cache(maxsize=1024)
def _sizes(
    rows: int | None, cols: int | None, num_mines: int | None, max_turns: int | None, no_guess: bool
) -> tuple[Size, ...]:
    """List the sizes an episode may have, what is not given taken from the published ones."""
    sides = {(side if rows is None else rows, side if cols is None else cols) for side in _SIDES}
    sizes = [(*side, side[0] * side[1] // 5 if num_mines is None else num_mines) for side in sides]
    fits = _is_winnable if no_guess else _has_room
    possible = tuple(sorted(size for size in sizes if fits(*size, max_turns)))
    if not possible:
        raise BadArguments(
            f"Minesweeper was given rows={rows}, cols={cols}, num_mines={num_mines}, "
            f"max_turns={max_turns} and no_guess={no_guess}, and there is no such game. Pass 1 to "
            f"{_LONGEST} rows and columns, a mine at least, and few enough to leave the 3x3 "
            "around any first cell free (with no_guess, few enough for deduction: a fifth of the "
            "cells) and turns for what is left.",
            subject="Minesweeper",
        )
    return possible


def _has_room(rows: int, cols: int, num_mines: int, max_turns: int | None) -> bool:
    """Tell whether the mines have room wherever the first reveal is."""
    is_board = 1 <= rows <= _LONGEST and 1 <= cols <= _LONGEST
    return is_board and 1 <= num_mines <= rows * cols - min(rows, 3) * min(cols, 3)


def _is_winnable(rows: int, cols: int, num_mines: int, max_turns: int | None) -> bool:
    """Tell whether a field is known that deduction wins in time."""
    is_board = 1 <= rows <= _LONGEST and 1 <= cols <= _LONGEST and num_mines >= 1
    return is_board and _known_field(rows, cols, num_mines, max_turns or rows * cols) is not None


@lru_cache(maxsize=1024)
def _known_field(rows: int, cols: int, num_mines: int, max_turns: int) -> Field | None:
    """Return one field that deduction wins, the same every time: for where chance finds none."""
    tries = 50_000 // (rows * cols)  # a second at most
    return sure_field(Random(0), rows, cols, num_mines, max_turns, tries=tries)
