"""Fill the empty cells of a Sudoku."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

from gem.env import Step
from gem.errors import BadArguments
from gem_envs_games.game import Game
from gem_envs_games.parsing import integers, reader
from gem_envs_games.rewards import PUBLISHED, Rewards
from gem_envs_games.sudoku.grid import dig, full_grid, next_digit

__all__ = ["Sudoku"]

_CLUES = {4: 10, 9: 50}
_TURNS = {4: 15, 9: 50}
_EMPTY = "."
_ROW = r"^ *\d   [\d.| ]+$"  # a row of the grid, behind its number
_SPARE = 2  # turns more than there are empty cells


class Sudoku(Game):
    """Fill the empty cells of a grid of `scale` by `scale`, 4 or 9, in `max_turns` turns.

    `clues` is the published word for the most cells to empty: that many are tried, and emptied
    where one solution remains and two turns are left to spare. An argument that is None is drawn
    anew for every episode: 4 with 10 clues and 15 turns, or 9 with 50 and 50. Every right digit
    earns its share of the reward.
    """

    highlights = (
        (_ROW, r"(?<=\d   )\d|(?<=[\d.|] )\d", "bold"),
        (_ROW, r"[.|]", "grey"),
    )

    def __init__(
        self,
        scale: int | None = 9,
        clues: int | None = 50,
        max_turns: int | None = 50,
        rewards: Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        self._given = scale, clues
        _sizes(scale, clues)  # refuses what cannot be played

    def deal(self) -> None:
        self.scale, self.clues = self.rng.choice(_sizes(*self._given))
        self.max_turns = self._given_turns or _turns_for(self.scale, self.clues)
        grid = full_grid(self.rng, self.scale)
        most = max(1, min(self.clues, self.max_turns - _SPARE))
        empty = dig(self.rng, grid, self.clues, most)
        self._solution = "".join(map(str, grid))
        self.num_empty = self._left = len(empty)
        emptied = set(empty)
        self._text = _drawn(
            [_EMPTY if cell in emptied else digit for cell, digit in enumerate(self._solution)]
        )

    def instructions(self) -> str:
        side = isqrt(self.scale)
        return (
            "You are playing Sudoku.\n"
            f"The grid has {self.scale} rows and {self.scale} columns, both numbered from 1, and "
            f"lines divide it into boxes of {side} by {side} cells. Fill every empty cell, shown "
            f"as {_EMPTY}, so that each row, each column and each box holds every digit from 1 "
            f"to {self.scale} once. There is one solution, and {self.num_empty} cells are empty. "
            f"You have {self.max_turns} turns.\n"
            "Each turn puts one digit into one empty cell. It stays there if it is correct; if "
            "not, the cell stays empty and the turn is lost. A move into a filled cell, or with a "
            f"number that is not from 1 to {self.scale}, is refused and still costs a turn.\n"
            "Write what you like, but give your move as row, column and digit in \\boxed{}, for "
            f"example {self._example()} for a {self.scale} in row 1, column 2. Only the last one "
            "counts. An answer without it ends the game."
        )

    def expected(self) -> str:
        return f"a row, a column and a digit in \\boxed{{}}, for example {self._example()}"

    def _example(self) -> str:
        return f"\\boxed{{1 2 {self.scale}}}"

    def suffix(self) -> str:
        return f"The grid:\n{self._text}\nEnter your next move."

    def step(self, action: str) -> Step:
        move = _read(action)
        if move is None:
            return self._malformed()
        row, col, number = move
        scale = self.scale
        if not (0 < row <= scale and 0 < col <= scale and 0 < number <= scale):
            return self._refuse(
                f"you chose row {row}, column {col} and {number}, and all three go from 1 to "
                f"{scale}."
            )
        cell = (row - 1) * scale + col - 1
        digit = str(number)
        text = self._text
        place = _places(scale)[cell]
        if text[place] != _EMPTY:
            return self._refuse(f"row {row}, column {col} is already filled.")
        if self._solution[cell] != digit:
            # Paid as a refused move is, and not reported as one: a mistake breaks no rule.
            return self._go_on(
                f"you put {digit} into row {row}, column {col}, which is not correct. The turn "
                "is lost.",
                {"wrong": self.rewards.invalid},
            )
        self._text = f"{text[:place]}{digit}{text[place + 1 :]}"
        self._left -= 1
        progress = self.rewards.success / self.num_empty
        placed = f"you put {digit} into row {row}, column {col}, which is correct."
        if not self._left:
            return self._win(f"{placed} The grid is full. Congratulations!", {"progress": progress})
        return self._go_on(placed, {"step": self.rewards.step, "progress": progress})

    def sample_action(self) -> str:
        """Return any digit in an empty cell: a wrong one is a mistake, and not refused."""
        places = _places(self.scale)
        empty = [cell for cell, place in enumerate(places) if self._text[place] == _EMPTY]
        return self._boxed(self.sample_rng.choice(empty), self.sample_rng.randint(1, self.scale))

    def solve(self) -> str | None:
        """Put in the digit that follows at once from the grid, or where none does, by search."""
        digits = [self._text[place] for place in _places(self.scale)]
        placement = next_digit([0 if digit == _EMPTY else int(digit) for digit in digits])
        return self._boxed(*placement) if placement else None

    def _boxed(self, cell: int, digit: int) -> str:
        return f"\\boxed{{{cell // self.scale + 1} {cell % self.scale + 1} {digit}}}"


def _read_move(words: list[str]) -> tuple[int, int, int] | None:
    """Read `1 2 3`; where each has one digit, also `123`."""
    numbers = integers(list(words[0]) if len(words) == 1 and len(words[0]) == 3 else words)
    return (numbers[0], numbers[1], numbers[2]) if numbers and len(numbers) == 3 else None


_read = reader(_read_move)


def _drawn(cells: list[str]) -> str:
    """Return the text of a grid: a line of column numbers, the rows, and lines between boxes."""
    scale = isqrt(len(cells))
    side = isqrt(scale)
    numbers = [str(number) for number in range(1, scale + 1)]
    rule = f"    {'-+-'.join(['-' * (2 * side - 1)] * side)}"
    lines = [f"    {_joined(numbers, side, '   ')}"]
    for row, number in enumerate(numbers):
        if row and row % side == 0:
            lines.append(rule)
        lines.append(f"{number}   {_joined(cells[row * scale :][:scale], side, ' | ')}")
    return "\n".join(lines)


def _joined(row: list[str], side: int, between: str) -> str:
    return between.join(" ".join(row[i : i + side]) for i in range(0, len(row), side))


@lru_cache(maxsize=4)
def _places(scale: int) -> tuple[int, ...]:
    """Return where in the text that `_drawn` writes each cell stands."""
    side = isqrt(scale)
    width = len(_drawn([_EMPTY] * scale**2).partition("\n")[0]) + 1
    return tuple(
        (1 + row + row // side) * width + 4 + 2 * (col + col // side)
        for row in range(scale)
        for col in range(scale)
    )


@lru_cache(maxsize=1024)
def _sizes(scale: int | None, clues: int | None) -> tuple[tuple[int, int], ...]:
    """List (scale, clues) that an episode may have, what is not given taken from the published."""
    sizes = [
        (side, _CLUES[side] if clues is None else clues) for side in _CLUES if scale in (None, side)
    ]
    possible = tuple(size for size in sizes if 1 <= size[1] <= size[0] ** 2)
    if not possible:
        raise BadArguments(
            f"Sudoku was given scale={scale} and clues={clues}, and there is no such grid. Pass "
            "a scale of 4 or 9, and as clues how many cells to empty at most: 1 to 16, or 1 to 81.",
            subject="Sudoku",
        )
    return possible


def _turns_for(scale: int, clues: int) -> int:
    """Return the published number of turns, with other clues a turn for each and some to spare."""
    return _TURNS[scale] if clues == _CLUES[scale] else clues + scale
