"""Fill a small crossword from its clues."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple

from gem.env import Step
from gem.errors import BadArguments
from gem_envs_games.crosswords.clues import clue_list
from gem_envs_games.crosswords.layout import BLACK, Entry, find_entries, lay_out
from gem_envs_games.game import Game
from gem_envs_games.numbered_grid import draw_grid, place_in_grid
from gem_envs_games.parsing import integers, reader
from gem_envs_games.rewards import PUBLISHED, Rewards

__all__ = ["Crosswords"]

_EMPTY = "_"
_DRAWN_WORDS = range(3, 7)
_MOST_WORDS = 12
_SLACK = 2
_SHORT = 5  # letters; enough words have no more for a crossword of any number of words


class Crosswords(Game):
    """Fill a crossword of `num_words` words, a letter a turn, within `max_turns` turns.

    `hardcore` takes the harder words. With `whole_words` an action may also be a whole word,
    which pays what its letters would. An argument that is None is drawn anew for every episode:
    3 to 6 words, easy or hard, and turns for half as many letters again as there are. With
    `4 * num_words + 1` turns or more, words are chosen so short that their letters fit the
    turns; in fewer a crossword may be too long to fill.
    """

    def __init__(
        self,
        hardcore: bool | None = False,
        max_turns: int | None = 30,
        num_words: int | None = 3,
        whole_words: bool = False,
        rewards: Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        if num_words is not None and not 1 <= num_words <= _MOST_WORDS:
            raise BadArguments(
                f"Crosswords was given num_words={num_words}, and a crossword has 1 to "
                f"{_MOST_WORDS} words here. Pass one of these numbers, or None to have it drawn.",
                subject="Crosswords",
            )
        self.hardcore = hardcore
        self.num_words = num_words
        self.whole_words = whole_words

    def deal(self) -> None:
        rows = self._draw()
        self._width = len(rows[0])
        self._height = len(rows)
        self._key = "".join(rows)
        self._cells = self._left = len(self._key) - self._key.count(BLACK)
        if self._given_turns is None:
            self.max_turns = self._cells * 3 // 2
        self._board = draw_grid(["".join(map(_hide, row)) for row in rows])
        self._clues = "\n".join(self._clue(entry) for entry in self._entries())

    def _draw(self) -> list[str]:
        rng = self.rng
        listed = clue_list()
        is_hard = rng.choice((False, True)) if self.hardcore is None else self.hardcore
        count = self.num_words or rng.choice(_counts(self._given_turns))
        longest = _longest(self._given_turns, count)
        pool = [word for word in (listed.hard if is_hard else listed.easy) if len(word) <= longest]
        while (rows := lay_out(rng.sample(pool, len(pool)), count, rng)) is None:
            pass  # seldom: words that cross too few of the others
        return rows

    def _entries(self) -> list[Entry]:
        starts = range(0, len(self._key), self._width)
        return find_entries([self._key[start : start + self._width] for start in starts])

    def _clue(self, entry: Entry) -> str:
        clue = self.rng.choice(clue_list().clues[self._word(entry)])
        where = f"({entry.row}, {entry.col}), {entry.length} letters"
        return f"{entry.number}. {_way(entry.is_down)} at {where}: {clue}"

    def _word(self, entry: Entry) -> str:
        return "".join(self._key[row * self._width + col] for row, col in entry.cells())

    def instructions(self) -> str:
        return (
            "You are playing Crosswords.\n"
            f"Fill the crossword from its clues, one letter a turn: {self._cells} letters. You "
            f"have {self.max_turns} turns.\n"
            f"Rows and columns are counted from 0. In the grid {BLACK} is a black cell and "
            f"{_EMPTY} an empty one. A clue gives its number, whether its word goes across or "
            "down, the (row, column) of its first letter, and its length. A wrong letter is not "
            "placed. A cell that is black, filled or outside the grid is refused. Each costs a "
            "turn.\n"
            "Write what you like, but give your letter as row, column and letter in "
            f"\\boxed{{}}, for example {self._example()}. {self._or_word()}Only the last one "
            "counts. An answer without it ends the game."
        )

    def _or_word(self) -> str:
        if not self.whole_words:
            return ""
        return (
            "Instead of a letter you may give a whole word, by the number and the direction of "
            f"its clue, in the form {self._example_word()}. It is placed if all of it is right. "
        )

    def expected(self) -> str:
        or_word = f", or a whole word as in {self._example_word()}" if self.whole_words else ""
        return f"row, column and letter in \\boxed{{}}, for example {self._example()}{or_word}"

    def _example(self) -> str:
        entry = self._entries()[0]
        return f"\\boxed{{{entry.row} {entry.col} A}}"

    def _example_word(self) -> str:
        entry = self._entries()[0]
        word = ascii_uppercase[: entry.length]
        return f"\\boxed{{{entry.number} {_way(entry.is_down)} {word}}}"

    def suffix(self) -> str:
        return f"{self._board}\n\n{self._clues}\nEnter your next letter."

    def step(self, action: str) -> Step:
        move = _read_move(action) if self.whole_words else _read_letter(action)
        if move is None:
            return self._malformed()
        if isinstance(move, _Word):
            return self._try_word(*move)
        row, col, letter = move
        if not (0 <= row < self._height and 0 <= col < self._width):
            return self._refuse(f"row {row}, column {col} is outside the grid.")
        place = place_in_grid(self._width, row, col)
        board = self._board
        cell = board[place]
        if cell != _EMPTY:
            what = "black" if cell == BLACK else f"filled already, with {cell}"
            return self._refuse(f"the cell at row {row}, column {col} is {what}.")
        if self._key[row * self._width + col] != letter:
            return self._go_on(f"{letter} is not the letter at row {row}, column {col}.")
        self._board = f"{board[:place]}{letter}{board[place + 1 :]}"
        return self._pay(1, f"{letter} is the letter at row {row}, column {col}.")

    def _pay(self, placed: int, message: str) -> Step:
        self._left -= placed
        progress = self.rewards.success * placed / self._cells
        if self._left:
            return self._go_on(message, {"step": self.rewards.step, "progress": progress})
        return self._win(
            f"{message} The crossword is full. Congratulations!", {"progress": progress}
        )

    def _try_word(self, number: int, is_down: bool, word: str) -> Step:
        name = f"{number} {_way(is_down)}"
        entry = next(
            (listed for listed in self._entries() if listed[:2] == (number, is_down)), None
        )
        if entry is None:
            return self._refuse(f"there is no {name}.")
        if len(word) != entry.length:
            return self._refuse(f"{name} has {entry.length} letters, and not {len(word)}.")
        empty = self._empty(entry)
        if not empty:
            return self._refuse(f"{name} is filled already.")
        if word != self._word(entry):
            return self._go_on(f"{word} is not {name}.")
        board = list(self._board)
        for at in empty:
            board[place_in_grid(self._width, *entry.cells()[at])] = word[at]
        self._board = "".join(board)
        return self._pay(len(empty), f"{word} is {name}.")

    def _empty(self, entry: Entry) -> list[int]:
        """Return which of its letters are not filled, counted from 0."""
        cells = enumerate(entry.cells())
        return [at for at, cell in cells if self._is_empty(*cell)]

    def _is_empty(self, row: int, col: int) -> bool:
        return self._board[place_in_grid(self._width, row, col)] == _EMPTY

    def sample_action(self) -> str:
        rng = self.sample_rng
        cells = [divmod(cell, self._width) for cell in range(len(self._key))]
        row, col = rng.choice([cell for cell in cells if self._is_empty(*cell)])
        return f"\\boxed{{{row} {col} {rng.choice(ascii_uppercase)}}}"

    def solve(self) -> str | None:
        """Answer the first clue that is not filled in; its word is looked up in the clue list."""
        for entry, line in zip(self._entries(), self._clues.splitlines(), strict=True):
            word = clue_list().words[line.split(": ", 1)[1]]
            for at in self._empty(entry):
                if self.whole_words:
                    return f"\\boxed{{{entry.number} {_way(entry.is_down)} {word}}}"
                row, col = entry.cells()[at]
                return f"\\boxed{{{row} {col} {word[at]}}}"
        return None


class _Word(NamedTuple):
    number: int
    is_down: bool
    word: str


def _hide(cell: str) -> str:
    return BLACK if cell == BLACK else _EMPTY


def _way(is_down: bool) -> str:
    return "down" if is_down else "across"


def _letter(words: list[str]) -> tuple[int, int, str] | None:
    place = integers(words[:2])
    if place is None or len(words) != 3 or len(words[2]) != 1 or not _is_letters(words[2]):
        return None
    return place[0], place[1], words[2].upper()


def _move(words: list[str]) -> tuple[int, int, str] | _Word | None:
    if len(words) != 3 or words[1].lower() not in ("across", "down"):
        return _letter(words)
    number = integers([words[0].rstrip(".")])
    if number is None or not _is_letters(words[2]):
        return None
    return _Word(number[0], words[1].lower() == "down", words[2].upper())


def _is_letters(word: str) -> bool:
    return word.isascii() and word.isalpha()


_read_letter = reader(_letter)
_read_move = reader(_move)


def _counts(turns: int | None) -> Sequence[int]:
    """Return the numbers of words to draw from: those that surely fit the turns, or the least."""
    return [n for n in _DRAWN_WORDS if turns is None or 4 * n < turns] or _DRAWN_WORDS[:1]


def _longest(turns: int | None, count: int) -> int:
    """Return the length of which `count` words, all joined by crossings, fit the turns."""
    return 99 if turns is None else max(_SHORT, (turns - _SLACK + count - 1) // count)
