"""Find words hidden in a grid of letters."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from gem.env import Step
from gem.errors import BadArguments
from gem_envs_games.game import Game
from gem_envs_games.numbered_grid import draw_grid
from gem_envs_games.parsing import integers, reader
from gem_envs_games.rewards import PUBLISHED, Rewards
from gem_envs_games.word_search.grid import find_runs, hide, lines
from gem_envs_games.words import is_word, words

__all__ = ["WordSearch"]

_LENGTHS = {False: range(4, 8), True: range(5, 11)}
_DRAWN_WORDS = range(3, 9)
_MOST_WORDS = 20
_TURNS_PER_WORD = 4


class WordSearch(Game):
    """Find `num_words` words, across or down, within `max_turns` guesses.

    The words are common and of 4 to 7 letters, with `hardcore` rare and of 5 to 10. With
    `show_words` they are listed, and the grid has each of them once in any direction. Without,
    only their lengths are, and no other run of these lengths, across or down, is a word of the
    pack's dictionary. None leaves that to `hardcore`: rare words are not listed. Another argument
    that is None is drawn anew for every episode: 3 to 8 words, common or rare, 4 turns a word.
    """

    def __init__(
        self,
        num_words: int | None = 5,
        max_turns: int | None = 20,
        hardcore: bool | None = False,
        show_words: bool | None = None,
        rewards: Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        if num_words is not None and not 1 <= num_words <= _MOST_WORDS:
            raise BadArguments(
                f"WordSearch was given num_words={num_words}, and a grid hides 1 to {_MOST_WORDS} "
                "words. Pass one of these numbers, or None to have it drawn.",
                subject="WordSearch",
            )
        self.num_words = num_words
        self.hardcore = hardcore
        self.show_words = show_words

    def deal(self) -> None:
        rng = self.rng
        is_hard = rng.choice((False, True)) if self.hardcore is None else self.hardcore
        count = self.num_words or rng.choice(_counts(self._given_turns))
        if self._given_turns is None:
            self.max_turns = _TURNS_PER_WORD * count
        self._are_shown = not is_hard if self.show_words is None else self.show_words
        self._guessed: list[int] = []
        self._hide(count, is_hard)
        self._look()

    def _hide(self, count: int, is_hard: bool) -> None:
        hidden = None
        while hidden is None:  # seldom more than once: words in each other's way
            chosen = _draw_words(count, is_hard, self.rng)
            self._side = max(round(1.5 * max(map(len, chosen))), count)
            is_target = set(chosen).__contains__ if self._are_shown else is_word
            hidden = hide(chosen, self._side, self.rng, is_target, every_way=self._are_shown)
        self._words = [word.upper() for word in chosen]
        self._ends = [self._code(run[0], run[-1]) for run in hidden.runs]
        self._grid = hidden.grid.upper()

    def _code(self, first: int, last: int) -> int:
        """Return two cells as one number, which snapshots keep best."""
        return first * self._side**2 + last

    def _look(self) -> None:
        """Redo what is shown, after a word was found."""
        starts = range(0, len(self._grid), self._side)
        self._board = draw_grid([self._grid[start : start + self._side] for start in starts])
        found_words = [
            w for w, ends in zip(self._words, self._ends, strict=True) if ends in self._guessed
        ]
        left = [word for word in self._words if word not in found_words]
        named = f": {', '.join(found_words)}" if found_words else ""
        if self._are_shown:
            what = ", ".join(left)
        else:
            what = f"words of {', '.join(map(str, sorted(map(len, left))))} letters"
        self._progress = f"Found {len(found_words)} of {len(self._words)}{named}. Left: {what}."

    def instructions(self) -> str:
        known = (
            "they are listed under the grid"
            if self._are_shown
            else "their lengths are given under the grid; nothing else of these lengths, across or "
            "down, is a word of this game's dictionary"
        )
        return (
            "You are playing WordSearch.\n"
            f"Find the words hidden in the grid: {len(self._words)} words, and {known}. You have "
            f"{self.max_turns} turns.\n"
            "Words are written left to right or top to bottom. Rows and columns are counted from "
            "0. Letters of words that are found are shown in lower case. A guess that is no "
            "hidden word costs a turn. One that leaves the grid, goes neither across nor down or "
            "was made before is refused, and costs a turn too.\n"
            "Write what you like, but give the first and the last letter of a word as row, "
            "column, row and column in \\boxed{}, for example \\boxed{0 0 0 3} for the first four "
            "letters of the top row. Only the last one counts. An answer without it ends the game."
        )

    def expected(self) -> str:
        return (
            "the row and column of the first letter, then of the last, in \\boxed{}, "
            "for example \\boxed{0 0 0 3}"
        )

    def suffix(self) -> str:
        return f"{self._board}\n\n{self._progress}\nEnter your next guess."

    def step(self, action: str) -> Step:
        ends = _read(action)
        if ends is None:
            return self._malformed()
        row, col, last_row, last_col = ends
        where = f"({row}, {col}) to ({last_row}, {last_col})"
        side = self._side
        if min(ends) < 0 or max(ends) >= side:
            return self._refuse(f"{where} leaves the grid.")
        if (row == last_row) == (col == last_col):
            return self._refuse(f"{where} goes neither across nor down.")
        first, last = sorted((row * side + col, last_row * side + last_col))
        code = self._code(first, last)
        if code in self._guessed:
            return self._refuse(f"{where} was guessed before.")
        self._guessed.append(code)
        run = range(first, last + 1, 1 if row == last_row else side)
        if code in self._ends:
            return self._find(run, where)
        text = "".join([self._grid[cell] for cell in run]).upper()
        return self._go_on(f"{text}, {where}, is not one of the hidden words.")

    def _find(self, run: range, where: str) -> Step:
        word = "".join([self._grid[cell] for cell in run]).upper()
        grid = list(self._grid)
        for cell in run:
            grid[cell] = grid[cell].lower()
        self._grid = "".join(grid)
        self._look()
        progress = self.rewards.success / len(self._words)
        if all(ends in self._guessed for ends in self._ends):
            return self._win(
                f"{word}, {where}, is the last word. Congratulations!", {"progress": progress}
            )
        return self._go_on(
            f"{word}, {where}, is one of the hidden words.",
            {"step": self.rewards.step, "progress": progress},
        )

    def sample_action(self) -> str:
        rng = self.sample_rng
        code = None
        while code is None or code in self._guessed:
            first, last = sorted(rng.sample(rng.choice(lines(self._side)), 2))
            code = self._code(first, last)
        return self._boxed(first, last)

    def _boxed(self, first: int, last: int) -> str:
        row, col = divmod(first, self._side)
        last_row, last_col = divmod(last, self._side)
        return f"\\boxed{{{row} {col} {last_row} {last_col}}}"

    def solve(self) -> str | None:
        """Find a listed word; where none is listed, a dictionary word of a length that is left."""
        pairs = zip(self._words, self._ends, strict=True)
        left = [word.lower() for word, ends in pairs if ends not in self._guessed]
        is_target = set(left).__contains__ if self._are_shown else is_word
        for run in find_runs(self._grid.lower(), lines(self._side), map(len, left), is_target):
            if self._code(run[0], run[-1]) not in self._guessed:
                return self._boxed(run[0], run[-1])
        return None


def _four(words: list[str]) -> tuple[int, ...] | None:
    return integers(words) if len(words) == 4 else None


_read = reader(_four)


def _counts(turns: int | None) -> Sequence[int]:
    """Return the numbers of words to draw from: those that fit the turns, or the least."""
    return [n for n in _DRAWN_WORDS if turns is None or n <= turns] or _DRAWN_WORDS[:1]


def _draw_words(count: int, is_hard: bool, rng: Random) -> list[str]:
    """Draw words none of which can be read backward, or has a word of a drawn length within."""
    lengths = [rng.choice(_LENGTHS[is_hard]) for _ in range(count)]
    chosen: list[str] = []
    for length in sorted(lengths, reverse=True):
        word = rng.choice(words(length, common=not is_hard))
        while word in chosen or word == word[::-1] or _has_word_within(word, lengths):
            word = rng.choice(words(length, common=not is_hard))
        chosen.append(word)
    return chosen


def _has_word_within(word: str, lengths: Sequence[int]) -> bool:
    return any(
        is_word(word[start : start + length])
        for length in set(lengths)
        if length < len(word)
        for start in range(len(word) - length + 1)
    )
