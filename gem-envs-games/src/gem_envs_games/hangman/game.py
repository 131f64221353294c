"""Find a word letter by letter, or by saying it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from gem.env import Step
from gem.errors import BadArguments
from gem_envs_games.game import Game
from gem_envs_games.hangman.letter_index import LetterIndex
from gem_envs_games.parsing import reader
from gem_envs_games.rewards import PUBLISHED, Rewards
from gem_envs_games.words import LENGTHS, by_length, words

__all__ = ["Hangman", "best_guess", "turns_needed", "turns_of"]

_LENGTHS = (3, 5, 7)


class Hangman(Game):
    """Find a word of `word_length` letters within `max_turns` guesses of a letter or the word.

    The word is a common one; with `hardcore` it may be a rare one too. An argument that is None
    is drawn anew for every episode: 3, 5 or 7 letters, and the turns then go with the length.
    Words that the solver could not be sure to find in these turns are left out (most of all of
    3 letters, where many differ in one letter alone). Every letter shown earns its share of half
    the reward; finding the word earns what is left of all of it.
    """

    def __init__(
        self,
        word_length: int | None = 7,
        hardcore: bool = False,
        max_turns: int | None = 20,
        rewards: Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        if word_length is not None and word_length not in LENGTHS:
            raise BadArguments(
                f"Hangman was given word_length={word_length}, and has words of {LENGTHS[0]} to "
                f"{LENGTHS[-1]} letters. Pass one of these, or None to have it drawn.",
                subject="Hangman",
            )
        self._given_length = word_length
        self.hardcore = hardcore

    def deal(self) -> None:
        length = self._given_length
        self.word_length = self.rng.choice(_LENGTHS) if length is None else length
        if self._given_turns is None:
            self.max_turns = turns_of(self.word_length)
        self._word = self.rng.choice(_secrets(self.word_length, self.hardcore))
        self._shown = "_" * self.word_length
        self._guesses: list[str] = []

    def instructions(self) -> str:
        kind = "an English word" if self.hardcore else "a common English word"
        return (
            "You are playing Hangman.\n"
            f"Find the hidden word: {kind} of {self.word_length} letters. You have "
            f"{self.max_turns} turns.\n"
            "Each turn you guess a letter, and are shown every place where the word has it, or "
            "you guess the whole word. You win by guessing the word or by having all of its "
            "letters shown. A guess made before, or that is neither one letter nor "
            f"{self.word_length}, is refused and still costs a turn.\n"
            "Write what you like, but give your guess in \\boxed{}, for example \\boxed{A} for "
            "the letter A. Only the last one counts. An answer without it ends the game."
        )

    def expected(self) -> str:
        return (
            f"a letter, or a word of {self.word_length} letters, in \\boxed{{}}, "
            "for example \\boxed{A}"
        )

    def suffix(self) -> str:
        guesses = f"\nGuessed so far: {', '.join(self._guesses).upper()}" if self._guesses else ""
        word = " ".join(self._shown).upper()
        return f"The word: {word}{guesses}\nEnter your next guess."

    def step(self, action: str) -> Step:
        guess = _read(action)
        if guess is None:
            return self._malformed()
        if len(guess) != 1 and len(guess) != self.word_length:
            return self._refuse(
                f"you guessed {guess.upper()}, which has {len(guess)} letters; guess one letter, "
                f"or a word of {self.word_length}."
            )
        if guess in self._guesses:
            return self._refuse(f"you guessed {guess.upper()}, which you have guessed before.")
        return self._letter(guess) if len(guess) == 1 else self._whole(guess)

    def _letter(self, letter: str) -> Step:
        count = self._word.count(letter)
        self._guesses.append(letter)
        if not count:
            return self._go_on(f"you guessed {letter.upper()}, which is not in the word.")
        pattern = "".join(
            hidden if hidden == letter else before
            for hidden, before in zip(self._word, self._shown, strict=True)
        )
        if pattern == self._word:
            return self._win_by(f"you guessed {letter.upper()}, and the word is shown")
        self._shown = pattern
        return self._go_on(
            f"you guessed {letter.upper()}, which is in {count} place(s).",
            {
                "step": self.rewards.step,
                "progress": self.rewards.success * 0.5 * count / self.word_length,
            },
        )

    def _whole(self, word: str) -> Step:
        if word == self._word:
            return self._win_by("you guessed the word")
        self._guesses.append(word)
        return self._go_on(f"you guessed {word.upper()}, which is not the word.")

    def _win_by(self, how: str) -> Step:
        open_letters = self.word_length - self._shown.count("_")
        left = 1 - 0.5 * open_letters / self.word_length
        return self._win(
            f"{how}: {self._word.upper()}. Congratulations!",
            {"success": self.rewards.success * left},
        )

    def sample_action(self) -> str:
        letters = [letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in self._guesses]
        return f"\\boxed{{{self.sample_rng.choice(letters)}}}"

    def solve(self) -> str | None:
        """Guess what leaves the fewest words on average, or a word where two are left at most.

        None where no word that may be hidden fits.
        """
        index = _index(self.word_length, self.hardcore)
        possible = index.fitting(self._shown, self._guesses)
        if not possible:
            return None
        return f"\\boxed{{{best_guess(index, possible, self._guesses)}}}"


def _spelled(letters: list[str]) -> str | None:
    """Read a letter or a word, its letters apart or together, in lower case."""
    word = "".join(letters)
    return word.lower() if word.isascii() and word.isalpha() else None


_read = reader(_spelled)


def turns_of(word_length: int) -> int:
    """Return the turns for a length: the published ones, elsewhere enough for every word."""
    return {3: 10, 5: 15}.get(word_length, 20)


def best_guess(index: LetterIndex, possible: int, guesses: Sequence[str]) -> str:
    """Return the letter that leaves the fewest words on average, or the first of two words."""
    if possible.bit_count() <= 2:
        return next(index.words_of(possible))
    return index.best_letter(possible, guesses)


def turns_needed(index: LetterIndex) -> dict[str, int]:
    """Return for each word of the index the turns in which `best_guess` finds it.

    Plays through every answer there is: some 0.2 s for 3,500 words.

    >>> turns_needed(LetterIndex(["bat", "cat", "dog"]))
    {'dog': 2, 'bat': 2, 'cat': 3}
    """
    needed: dict[str, int] = {}
    games = [(index.every, "", 1)]
    while games:
        possible, letters, turn = games.pop()
        guess = best_guess(index, possible, letters)
        if len(guess) > 1:
            needed.update((word, turn + wait) for wait, word in enumerate(index.words_of(possible)))
            continue
        for part in index.split(possible, guess):
            word = next(index.words_of(part))
            if set(word) <= {*letters, guess}:
                needed[word] = turn
            else:
                games.append((part, letters + guess, turn + 1))
    return needed


@cache
def _secrets(word_length: int, hardcore: bool) -> Sequence[str]:
    """Return the words that may be hidden, in alphabetical order."""
    rare = words(word_length, common=False) if hardcore else ()
    left_out = by_length(f"left_out_{'hardcore' if hardcore else 'common'}.txt")[word_length]
    return sorted({*words(word_length, common=True), *rare} - {*left_out})


@cache
def _index(word_length: int, hardcore: bool) -> LetterIndex:
    return LetterIndex(_secrets(word_length, hardcore))
