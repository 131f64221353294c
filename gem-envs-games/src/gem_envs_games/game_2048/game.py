"""Slide and merge tiles up to a target tile."""

from __future__ import annotations

from gem.env import Step
from gem.errors import BadArguments
from gem_envs_games.game import Game
from gem_envs_games.game_2048.board import DIRECTIONS, EMPTY, add_tile, can_slide, drawn, slid, tile
from gem_envs_games.game_2048.solver import best_direction
from gem_envs_games.parsing import reader
from gem_envs_games.rewards import PUBLISHED, Rewards

__all__ = ["Game2048"]

_TURNS = {16: 20, 32: 30, 64: 50}
_SIZES = range(2, 9)
_ROW = r"^ *[\d.]+( +[\d.]+)+$"  # a row of the board
_SMALLEST = 8  # the first two tiles may be 4s


class Game2048(Game):
    """Merge tiles up to `target_tile` in `max_turns` moves on a square of `board_size` cells.

    An argument that is None is drawn anew for every episode: 16, 32 or 64, and the turns then
    go with the tile. Every doubling of the highest tile earns the same share of the reward, all
    of it together at the target. The game is lost where no move is left.
    """

    highlights = (
        (_ROW, r"(?<!\d)(?:8|16)(?!\d)", "yellow"),
        (_ROW, r"(?<!\d)(?:32|64)(?!\d)", "red"),
        (_ROW, r"(?<!\d)(?:128|256|512)(?!\d)", "magenta"),
        (_ROW, r"(?<!\d)\d{4,}", "cyan"),
        (_ROW, r"[.]", "grey"),
    )

    def __init__(
        self,
        target_tile: int | None = 2048,
        max_turns: int | None = None,
        board_size: int = 4,
        rewards: Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        self.board_size = board_size
        self._targets = _targets(target_tile, board_size)

    def deal(self) -> None:
        self.target_tile = self.rng.choice(self._targets)
        if self._given_turns is None:
            self.max_turns = _turns_for(self.target_tile)
        empty = EMPTY * self.board_size**2
        self._board = add_tile(add_tile(empty, self.rng), self.rng)
        self._target = self.target_tile.bit_length() - 1
        self._top = self._first_top = 2 if tile(2) in self._board else 1
        self._width = max(4, len(str(self.target_tile)))

    def instructions(self) -> str:
        size = self.board_size
        return (
            "You are playing 2048.\n"
            f"The board has {size} rows of {size} cells, and a dot is an empty cell. Bring about a "
            f"tile of {self.target_tile}. You have {self.max_turns} turns.\n"
            "Each turn slides all tiles up, down, left or right, as far as they go. Two equal "
            "tiles that meet become one of twice their value; that one does not merge again in "
            "the same turn, and of three in a row the two nearest the side they slide to do. Then "
            "a new tile, a 2 or now and then a 4, appears on a random empty cell. A move that "
            "changes nothing is refused and still costs a turn. Without a move that changes the "
            "board the game is lost.\n"
            "Write what you like, but give your move as a direction in \\boxed{}, for example "
            "\\boxed{left}. Only the last one counts. An answer without it ends the game."
        )

    def expected(self) -> str:
        return "up, down, left or right in \\boxed{}, for example \\boxed{left}"

    def suffix(self) -> str:
        return f"The board:\n{drawn(self._board, self._width)}\nEnter your next move."

    def step(self, action: str) -> Step:
        direction = _direction(action)
        if direction is None:
            return self._malformed()
        board = slid(self._board, direction)
        if board == self._board:
            return self._refuse(f"you tried to slide the tiles {direction}, but none can move.")
        self._board = board = add_tile(board, self.rng)
        moved = f"you slid the tiles {direction}."
        parts = None
        if tile(self._top + 1) in board:  # no move makes two steps at once
            self._top += 1
            moved = f"{moved} The highest tile is now {1 << self._top}."
            parts = {"step": self.rewards.step, "progress": self._share()}
        if self._top == self._target:
            return self._win(f"{moved} Congratulations!", {"progress": self._share()})
        if not can_slide(board):
            board = drawn(board, self._width)
            return self._lose(f"{moved} No move is left:\n{board}", parts)
        return self._go_on(moved, parts)

    def _share(self) -> float:
        """Return what each doubling of the highest tile earns."""
        return self.rewards.success / (self._target - self._first_top)

    def sample_action(self) -> str:
        possible = [way for way in DIRECTIONS if slid(self._board, way) != self._board]
        return f"\\boxed{{{self.sample_rng.choice(possible)}}}"

    def solve(self) -> str:
        """Make the move that is best on average over the next new tiles."""
        return f"\\boxed{{{best_direction(self._board, tile(self._target))}}}"


def _read(words: list[str]) -> str | None:
    word = words[0].lower() if len(words) == 1 else ""
    return word if word in DIRECTIONS else None


_direction = reader(_read)


def _targets(target_tile: int | None, board_size: int) -> list[int]:
    """List the targets that an episode may have."""
    if board_size not in _SIZES:
        raise BadArguments(
            f"Game2048 was given board_size={board_size}, and can be played on boards of "
            f"{_SIZES[0]} to {_SIZES[-1]} cells a side. Pass one of these.",
            subject="Game2048",
        )
    # With every cell in use the tiles can be no better than 4, 4, 8, 16 and so on.
    largest = 2 ** (board_size**2 + 1)
    tiles = list(_TURNS) if target_tile is None else [target_tile]
    possible = [
        value for value in tiles if _SMALLEST <= value <= largest and value & value - 1 == 0
    ]
    if not possible:
        raise BadArguments(
            f"Game2048 was given target_tile={target_tile} and board_size={board_size}. A target "
            f"is a power of two from {_SMALLEST} to {largest}, the largest tile that such a board "
            "can hold. Pass one, or None to have it drawn.",
            subject="Game2048",
        )
    return possible


def _turns_for(target_tile: int) -> int:
    """Return the published number of turns, elsewhere twice what a good game takes."""
    return _TURNS.get(target_tile, 20 + target_tile)
