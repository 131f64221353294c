"""Find a secret word from marks on the letters of each guess."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache, lru_cache

from gem.env import Step
from gem.errors import BadArguments
from gem_envs_games.game import Game
from gem_envs_games.parsing import reader
from gem_envs_games.rewards import PUBLISHED, Rewards
from gem_envs_games.words import LENGTHS, is_word, words

__all__ = ["Wordle", "best_guess", "mark"]

_LENGTHS = (3, 4, 5)
_TURNS_PER_LETTER = 5
_MARKS = r"^[GYX]( [GYX])+$"  # the line of marks under a guess
_EXAMPLES = ("fox", "lamp", "bread", "garden", "weather", "elephant", "butterfly", "basketball")


class Wordle(Game):
    """Find a common word of `word_length` letters within `max_turns` guesses.

    With `only_real_words` a guess must be one of the words, common and rare, of `words`. An
    argument that is None is drawn anew for every episode: 3, 4 or 5 letters, and five turns for
    each letter. Every place that is right for the first time earns its share of half the reward;
    finding the word earns what is left of all of it.
    """

    highlights = (
        (_MARKS, r"\bG\b", "green"),
        (_MARKS, r"\bY\b", "yellow"),
        (_MARKS, r"\bX\b", "grey"),
    )

    def __init__(
        self,
        word_length: int | None = 5,
        only_real_words: bool = True,
        max_turns: int | None = 25,
        rewards: Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        if word_length is not None and word_length not in LENGTHS:
            raise BadArguments(
                f"Wordle was given word_length={word_length}, and has words of {LENGTHS[0]} to "
                f"{LENGTHS[-1]} letters. Pass one of these, or None to have it drawn.",
                subject="Wordle",
            )
        self._given_length = word_length
        self.only_real_words = only_real_words

    def deal(self) -> None:
        length = self._given_length
        self.word_length = self.rng.choice(_LENGTHS) if length is None else length
        if self._given_turns is None:
            self.max_turns = self.word_length * _TURNS_PER_LETTER
        self._word = self.rng.choice(words(self.word_length, common=True))
        self._guesses: list[str] = []
        self._right = 0  # places that were right before, as bits

    def instructions(self) -> str:
        real = ", or that the game does not know as a word" if self.only_real_words else ""
        return (
            "You are playing Wordle.\n"
            f"Find the secret word: a common English word of {self.word_length} letters. You have "
            f"{self.max_turns} turns.\n"
            "Each letter of your guess is answered by a mark under it: G, the letter is right in "
            "this place; Y, it is in the word, but in another place; X, it is not in the word, or "
            "not as often as you guessed it.\n"
            "A guess of another length, or made before"
            f"{real}, is refused and still costs a turn.\n"
            "Write what you like, but give your guess as one word in \\boxed{}, for example "
            f"{self._example()}. Only the last one counts. An answer without it ends the game."
        )

    def expected(self) -> str:
        return f"a word of {self.word_length} letters in \\boxed{{}}, for example {self._example()}"

    def _example(self) -> str:
        return f"\\boxed{{{_EXAMPLES[self.word_length - LENGTHS[0]]}}}"

    def suffix(self) -> str:
        return "Enter your next guess." if self._guesses else "Enter your first guess."

    def step(self, action: str) -> Step:
        guess = _read(action)
        if guess is None:
            return self._malformed()
        capitals = guess.upper()
        if len(guess) != self.word_length:
            return self._refuse(
                f"you guessed {capitals}, which has {len(guess)} letter(s) and not "
                f"{self.word_length}."
            )
        if guess in self._guesses:
            return self._refuse(f"you guessed {capitals}, which you have guessed before.")
        if self.only_real_words and not is_word(guess):
            return self._refuse(f"you guessed {capitals}, which the game does not know as a word.")
        return self._answer(guess, capitals)

    def _answer(self, guess: str, capitals: str) -> Step:
        if guess == self._word:
            left = 1 - 0.5 * self._right.bit_count() / self.word_length
            return self._win(
                f"you guessed {capitals}, the secret word. Congratulations!",
                {"success": self.rewards.success * left},
            )
        self._guesses.append(guess)
        marks = mark(self._word, guess)
        return self._go_on(
            f"you guessed\n{' '.join(capitals)}\n{' '.join(marks)}",
            self._progress(marks) if "G" in marks else None,
        )

    def _progress(self, marks: str) -> dict[str, float] | None:
        right = sum(1 << place for place, letter in enumerate(marks) if letter == "G")
        more = (right & ~self._right).bit_count()
        if not more:
            return None
        self._right |= right
        share = self.rewards.success * 0.5 * more / self.word_length
        return {"step": self.rewards.step, "progress": share}

    def sample_action(self) -> str:
        known = words(self.word_length, common=True)
        while (word := self.sample_rng.choice(known)) in self._guesses:
            pass
        return f"\\boxed{{{word}}}"

    def solve(self) -> str | None:
        """Guess a common word that fits every answer so far, one that divides the others well."""
        answers = [(guess, mark(self._word, guess)) for guess in self._guesses]
        guess = _next_guess(self.word_length, answers)
        return f"\\boxed{{{guess}}}" if guess else None


def _spelled(letters: list[str]) -> str | None:
    """Read a word, its letters apart or together, in lower case."""
    word = "".join(letters)
    return word.lower() if word.isascii() and word.isalpha() else None


_read = reader(_spelled)


def mark(word: str, guess: str) -> str:
    """Return a G, Y or X for each letter of a guess of the same length.

    A letter is marked as often as the word holds it: first where it is right, then from the
    left.

    >>> mark("abbey", "kebab"), mark("abbey", "babes")
    ('XYGYY', 'YYGGX')
    """
    left = [letter for letter, guessed in zip(word, guess, strict=True) if letter != guessed]
    marks = ""
    for letter, guessed in zip(word, guess, strict=True):
        if letter == guessed:
            marks += "G"
        elif guessed in left:
            left.remove(guessed)
            marks += "Y"
        else:
            marks += "X"
    return marks


def best_guess(possible: Sequence[str]) -> str:
    """Return the word whose letters and their places tell the most of the others apart.

    Linear in the words. A letter counts the more, the nearer to half of the words hold it, and
    so does, for a third, a letter in its place.

    >>> best_guess(["bat", "cat", "hat", "tab"])
    'bat'
    """
    holding = Counter(letter for word in possible for letter in set(word))
    placed = Counter(spot for word in possible for spot in enumerate(word))
    many = len(possible)
    # Whole numbers: the last digit of a sum of floats depends on the version of Python.
    letters = {letter: 3 * count * (many - count) for letter, count in holding.items()}
    spots = {spot: count * (many - count) for spot, count in placed.items()}
    return max(
        possible,
        key=lambda word: (
            sum(letters[letter] for letter in set(word))
            + sum(spots[spot] for spot in enumerate(word))
        ),
    )


@cache
def _opening(length: int) -> str:
    return best_guess(words(length, common=True))


@lru_cache(32)
def _by_marks(length: int, guess: str) -> dict[str, list[str]]:
    """Sort the common words by the marks they give this guess."""
    by_marks: dict[str, list[str]] = defaultdict(list)
    for word in words(length, common=True):
        by_marks[mark(word, guess)].append(word)
    return by_marks


def _next_guess(length: int, answers: Sequence[tuple[str, str]]) -> str | None:
    """Return the best guess after these answers, each a guess and its marks; None if none fits."""
    if not answers:
        return _opening(length)
    (guess, marks), *others = answers
    possible = _by_marks(length, guess).get(marks, [])
    for guess, marks in others:
        possible = [word for word in possible if mark(word, guess) == marks]
    return best_guess(possible) if possible else None
