"""Slide numbered tiles into order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from operator import eq

from gem.env import Step
from gem.errors import BadArguments
from gem_envs_games.fifteen_puzzle.solver import (
    ENOUGH,
    goal,
    is_solvable,
    moved,
    next_move,
    sources,
)
from gem_envs_games.game import Game
from gem_envs_games.parsing import reader
from gem_envs_games.rewards import PUBLISHED, Rewards

__all__ = ["FifteenPuzzle"]

_TURNS = {2: 10, 3: 20, 4: 50}
_SIZES = range(2, 11)
_MOST_SHUFFLES = 10  # moves for each cell
_SIDES = {"up": "below", "down": "above", "left": "to the right of", "right": "to the left of"}
_BACK = {"up": "d", "down": "u", "left": "r", "right": "l"}
_BY_LETTER = {move[0]: move for move in _SIDES}


class FifteenPuzzle(Game):
    """Bring a square of `num_rows` rows of tiles into order in `max_turns` moves.

    An argument that is None is drawn anew for every episode: 2, 3 or 4 rows, and the turns then
    go with the rows. Where the turns are enough for any board (6, 31 and 124 for 2 to 4 rows),
    every board that can be solved is as likely a start; elsewhere the tiles are shuffled by
    `max_turns` random moves, which taken back solve it. When the turns run out, every cell in
    place (the blank included) earns its share of the reward.
    """

    def __init__(
        self,
        num_rows: int | None = 4,
        max_turns: int | None = 50,
        rewards: Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        if num_rows is not None and num_rows not in _SIZES:
            raise BadArguments(
                f"FifteenPuzzle was given num_rows={num_rows}, and can be played with "
                f"{_SIZES[0]} to {_SIZES[-1]}. Pass one of these, or None to have it drawn.",
                subject="FifteenPuzzle",
            )
        self._given_rows = num_rows

    def deal(self) -> None:
        rows = self._given_rows
        self.num_rows = size = self.rng.choice(list(_TURNS)) if rows is None else rows
        if self._given_turns is None:
            self.max_turns = _TURNS.get(size, _MOST_SHUFFLES * size * size)
        assert self.max_turns is not None
        if self.max_turns >= ENOUGH.get(size, float("inf")):
            board = self._any_board()
            self._way = ""
        else:
            board, self._way = self._shuffled(min(self.max_turns, _MOST_SHUFFLES * size * size))
        self._hole = board.index(0)
        self._board = _board_text(board)

    def _any_board(self) -> tuple[int, ...]:
        """Draw one of all boards that can be solved, the solved one left out."""
        size = self.num_rows
        while True:
            board = list(goal(size))
            self.rng.shuffle(board)
            if not is_solvable(board, size):
                first, second = [at for at, tile in enumerate(board) if tile][:2]
                board[first], board[second] = board[second], board[first]
            if tuple(board) != goal(size):
                return tuple(board)

    def _shuffled(self, moves: int) -> tuple[tuple[int, ...], str]:
        """Move at random, never straight back; return the board and the way back, as letters."""
        size = self.num_rows
        board = goal(size)
        way = ""
        while board == goal(size):  # a walk in a circle is drawn again
            blank = size * size - 1
            way = ""
            for _ in range(moves):
                possible = sources(size)[blank]
                move = self.rng.choice([move for move in possible if move[0] != way[:1]])
                board = moved(board, blank, possible[move])
                blank = possible[move]
                way = _BACK[move] + way
        return board, way

    def instructions(self) -> str:
        size = self.num_rows
        blank = "_" * len(str(size * size - 1))
        return (
            f"You are playing the sliding puzzle with {size} rows of {size} cells: the tiles 1 to "
            f"{size * size - 1} and one blank cell, shown as {blank}.\n"
            f"Bring the tiles into order: row by row from left to right, 1 at the top left, the "
            f"blank at the bottom right. You have {self.max_turns} turns.\n"
            "Each turn slides one tile into the blank, and the direction says which way that tile "
            "goes: up moves the tile below the blank up, down the one above it down, left the one "
            "on its right left, right the one on its left right. A move without such a tile is "
            "refused and still costs a turn.\n"
            "Write what you like, but give your move as a direction in \\boxed{}, for example "
            "\\boxed{up}. Only the last one counts. An answer without it ends the game."
        )

    def expected(self) -> str:
        return "up, down, left or right in \\boxed{}, for example \\boxed{up}"

    def suffix(self) -> str:
        return f"The board:\n{self._board}\nEnter your next move."

    def consolation(self) -> dict[str, float]:
        in_place = sum(map(eq, _read_board(self._board), goal(self.num_rows)))
        return {"in_place": self.rewards.success * in_place / self.num_rows**2}

    def step(self, action: str) -> Step:
        move = _move(action)
        if move is None:
            return self._malformed()
        size = self.num_rows
        hole = self._hole
        source = sources(size)[hole].get(move)
        if source is None:
            return self._refuse(
                f"you tried to move a tile {move}, but there is none {_SIDES[move]} the blank."
            )
        self._board = _swapped(self._board, size, hole, source)
        self._hole = source
        if self._way:
            self._way = self._way[1:] if self._way[0] == move[0] else _BACK[move] + self._way
        if self._board == _shown_goal(size):
            return self._win(
                f"you moved a tile {move}. The tiles are in order. Congratulations!",
                {"success": self.rewards.success},
            )
        return self._go_on(f"you moved a tile {move}.")

    def sample_action(self) -> str:
        return _boxed(self.sample_rng.choice(list(sources(self.num_rows)[self._hole])))

    def solve(self) -> str | None:
        """Make the first move of a shortest way, from 4x4 on of one that is known to end.

        That is the way back from the shuffle, later moves taken back too. On 4x4, where this
        would be too long, tiles are brought home in stages.
        """
        size = self.num_rows
        way = self._way
        left = (self.max_turns or 0) - self.turn
        if way and (size > 4 or (size == 4 and len(way) <= left)):
            return _boxed(_BY_LETTER[way[0]])
        move = next_move(_read_board(self._board), size) if size <= 4 else None
        return _boxed(move) if move else None


def _read(words: list[str]) -> str | None:
    word = words[0].lower() if len(words) == 1 else ""
    return word if word in _BACK else None


_move = reader(_read)


def _boxed(move: str) -> str:
    return f"\\boxed{{{move}}}"


def _board_text(board: Sequence[int]) -> str:
    """Return the board as text, a line for each row; all cells are equally wide."""
    size = math.isqrt(len(board))
    width = _width(len(board))
    cells = [str(tile).rjust(width) if tile else "_" * width for tile in board]
    return "\n".join(" ".join(cells[at : at + size]) for at in range(0, len(cells), size))


def _read_board(text: str) -> tuple[int, ...]:
    return tuple(0 if "_" in cell else int(cell) for cell in text.split())


@cache
def _shown_goal(size: int) -> str:
    return _board_text(goal(size))


@cache
def _width(cells: int) -> int:
    return len(str(cells - 1))


def _swapped(text: str, size: int, cell: int, other: int) -> str:
    """Return the text of the board with two cells exchanged, much faster than writing it anew."""
    width = _width(size * size)
    first = min(cell, other) * (width + 1)
    second = max(cell, other) * (width + 1)
    end = first + width
    return (
        f"{text[:first]}{text[second : second + width]}{text[end:second]}{text[first:end]}"
        f"{text[second + width :]}"
    )
