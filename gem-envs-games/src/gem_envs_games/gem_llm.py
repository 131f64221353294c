"""The classes of gem-llm's `gem.envs.game_env`: our games, with its arguments and its defaults.

Each is made as it was there, in any order of arguments, others ignored, and answers as
`gem.make(..., compat=True)` does.
"""

from __future__ import annotations

from typing import Any

from gem.compat import AsPublished
from gem_envs_games.crosswords import Crosswords
from gem_envs_games.fifteen_puzzle import FifteenPuzzle
from gem_envs_games.game_2048 import Game2048
from gem_envs_games.guess_the_number import GuessTheNumber
from gem_envs_games.hangman import Hangman
from gem_envs_games.mastermind import Mastermind
from gem_envs_games.minesweeper import Minesweeper
from gem_envs_games.sokoban import Sokoban
from gem_envs_games.sudoku import Sudoku
from gem_envs_games.tower_of_hanoi import TowerOfHanoi
from gem_envs_games.word_search import WordSearch
from gem_envs_games.wordle import Wordle

__all__ = [
    "CrosswordsEnv",
    "FifteenPuzzleEnv",
    "Game2048Env",
    "GuessTheNumberEnv",
    "HangmanEnv",
    "MastermindEnv",
    "MinesweeperEnv",
    "SokobanEnv",
    "SudokuEnv",
    "TowerofHanoiEnv",
    "WordSearchEnv",
    "WordleEnv",
]


class CrosswordsEnv(AsPublished):
    """`gem_envs_games.crosswords`, 5 words in 100 turns."""

    def __init__(
        self,
        hardcore: bool | None = False,
        max_turns: int | None = 100,
        num_words: int = 5,
        **_: Any,
    ) -> None:
        super().__init__(Crosswords(hardcore, max_turns, num_words))


class FifteenPuzzleEnv(AsPublished):
    """`gem_envs_games.fifteen_puzzle`, 2x2 in 20 moves."""

    def __init__(self, max_turns: int | None = 20, num_rows: int | None = 2, **_: Any) -> None:
        super().__init__(FifteenPuzzle(num_rows, max_turns))


class Game2048Env(AsPublished):
    """`gem_envs_games.game_2048`, 2048 in 1,000 moves."""

    def __init__(
        self,
        target_tile: int | None = 2048,
        max_turns: int | None = 1000,
        board_size: int = 4,
        **_: Any,
    ) -> None:
        super().__init__(Game2048(target_tile, max_turns, board_size))


class GuessTheNumberEnv(AsPublished):
    """`gem_envs_games.guess_the_number`, from 1 to 20 in 20 turns."""

    def __init__(
        self,
        min_number: int | None = 1,
        max_number: int | None = 20,
        max_turns: int | None = 20,
        **_: Any,
    ) -> None:
        super().__init__(GuessTheNumber(min_number, max_number, max_turns))


class HangmanEnv(AsPublished):
    """`gem_envs_games.hangman`, 5 letters in 20 turns."""

    def __init__(
        self,
        word_length: int | None = 5,
        hardcore: bool = False,
        max_turns: int | None = 20,
        **_: Any,
    ) -> None:
        super().__init__(Hangman(word_length, hardcore, max_turns))


class MastermindEnv(AsPublished):
    """`gem_envs_games.mastermind`, 4 of 6 numbers in 20 turns."""

    def __init__(
        self,
        code_length: int | None = 4,
        num_numbers: int | None = 6,
        duplicate_numbers: bool = False,
        max_turns: int | None = 20,
        **_: Any,
    ) -> None:
        super().__init__(Mastermind(code_length, num_numbers, max_turns, duplicate_numbers))


class MinesweeperEnv(AsPublished):
    """`gem_envs_games.minesweeper`, 8x8 with 10 mines in 20 turns."""

    def __init__(
        self,
        rows: int | None = 8,
        cols: int | None = 8,
        num_mines: int | None = 10,
        max_turns: int | None = 20,
        **_: Any,
    ) -> None:
        super().__init__(Minesweeper(rows, cols, num_mines, max_turns))


class SokobanEnv(AsPublished):
    """`gem_envs_games.sokoban`, 6x6 with 3 boxes in 100 turns."""

    def __init__(
        self,
        dim_room: tuple[int, int] | None = (6, 6),
        max_turns: int | None = 100,
        num_boxes: int | None = 3,
        **_: Any,
    ) -> None:
        super().__init__(Sokoban(dim_room, num_boxes, max_turns))


class SudokuEnv(AsPublished):
    """`gem_envs_games.sudoku`, 9x9 in 100 turns."""

    def __init__(
        self,
        clues: int | None = 30,
        max_turns: int | None = 100,
        scale: int | None = 9,
        **_: Any,
    ) -> None:
        super().__init__(Sudoku(scale, clues, max_turns))


class TowerofHanoiEnv(AsPublished):
    """`gem_envs_games.tower_of_hanoi`, 3 disks in 100 moves."""

    def __init__(self, num_disks: int | None = 3, max_turns: int | None = 100, **_: Any) -> None:
        super().__init__(TowerOfHanoi(num_disks, max_turns))


class WordSearchEnv(AsPublished):
    """`gem_envs_games.word_search`, 5 words in 20 turns."""

    def __init__(
        self,
        hardcore: bool | None = False,
        max_turns: int | None = 20,
        num_words: int | None = 5,
        **_: Any,
    ) -> None:
        super().__init__(WordSearch(num_words, max_turns, hardcore))


class WordleEnv(AsPublished):
    """`gem_envs_games.wordle`, 5 letters in 20 turns."""

    def __init__(
        self,
        word_length: int | None = 5,
        only_real_words: bool = True,
        max_turns: int | None = 20,
        **_: Any,
    ) -> None:
        super().__init__(Wordle(word_length, only_real_words, max_turns))
