"""Break a secret code from counts of black and white pegs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from operator import eq
from random import Random

from gem.env import Step
from gem.errors import BadArguments
from gem_envs_games.game import Game
from gem_envs_games.parsing import integers, reader
from gem_envs_games.rewards import PUBLISHED, Rewards

__all__ = ["Mastermind", "count_pegs", "first_code"]

_SIZES = ((2, 4), (4, 6), (4, 8))
_TURNS = {(2, 4): 10, (2, 6): 10, (4, 6): 20, (4, 8): 30}
_LONGEST = 100
_MOST_NUMBERS = 1000
_TRIES = 20_000


class Mastermind(Game):
    """Find a code of `code_length` numbers from 1 to `num_numbers` within `max_turns` guesses.

    With `duplicate_numbers` the code may hold a number twice; a guess always may. An argument
    that is None is drawn anew for every episode from the published sizes (2 of 4, 4 of 6, 4 of
    8), and the turns then go with the size. Every black peg more than ever before earns its
    share of the reward.
    """

    def __init__(
        self,
        code_length: int | None = 4,
        num_numbers: int | None = 8,
        max_turns: int | None = 30,
        duplicate_numbers: bool = False,
        rewards: Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        self._sizes = _sizes(code_length, num_numbers, duplicate_numbers)
        self.duplicate_numbers = duplicate_numbers

    def deal(self) -> None:
        size = self.rng.choice(self._sizes)
        self.code_length, self.num_numbers = size
        if self._given_turns is None:
            self.max_turns = _TURNS.get(size, self.code_length * self.num_numbers)
        self._code = self._draw(self.rng)
        self._most_black = 0
        self._guesses: dict[str, None] = {}  # flat text: a snapshot of it is quick

    def _draw(self, rng: Random) -> tuple[int, ...]:
        numbers = range(1, self.num_numbers + 1)
        draw = rng.choices if self.duplicate_numbers else rng.sample
        return tuple(draw(numbers, k=self.code_length))

    def instructions(self) -> str:
        may = "may appear more than once" if self.duplicate_numbers else "are all different"
        return (
            "You are playing Mastermind.\n"
            f"Find the secret code: {self.code_length} numbers from 1 to {self.num_numbers}, both "
            f"included, in the right order. The numbers of the code {may}. You have "
            f"{self.max_turns} turns.\n"
            "After each guess you are told the number of black pegs (a right number in the right "
            "place) and of white pegs (a right number in the wrong place); each number of the "
            "code counts for one peg at most, even if your guess repeats it. A guess of another "
            "length, with a number out of that range, or made before, is refused and still "
            "costs a turn.\n"
            "Write what you like, but give your guess as numbers separated by spaces in "
            f"\\boxed{{}}, for example {self._example()}. Only the last one counts. An answer "
            "without it ends the game."
        )

    def expected(self) -> str:
        return (
            f"{self.code_length} numbers separated by spaces in \\boxed{{}}, "
            f"for example {self._example()}"
        )

    def _example(self) -> str:
        example = _guess_text([place % self.num_numbers + 1 for place in range(self.code_length)])
        return f"\\boxed{{{example}}}"

    def suffix(self) -> str:
        return f"Enter your {'next' if self._guesses else 'first'} guess."

    def step(self, action: str) -> Step:
        guess = _read(action)
        if guess is None:
            return self._malformed()
        numbers, text = guess
        if len(text) == self.code_length > len(numbers) and self.num_numbers < 10:
            numbers, text = _guess([*text]) or guess  # `1234` is read as `1 2 3 4`
        if len(numbers) != self.code_length:
            return self._refuse(
                f"you guessed {text}, which has {len(numbers)} numbers and not {self.code_length}."
            )
        if min(numbers) < 1 or max(numbers) > self.num_numbers:
            return self._refuse(
                f"you guessed {text}, which has a number that is not from 1 to {self.num_numbers}."
            )
        if text in self._guesses:
            return self._refuse(f"you guessed {text}, which you have guessed before.")
        return self._answer(numbers, text)

    def _answer(self, guess: tuple[int, ...], text: str) -> Step:
        black, white = count_pegs(self._code, guess)
        if black == self.code_length:
            return self._win(
                f"you guessed {text}, the secret code. Congratulations!", self._progress(black)
            )
        self._guesses[text] = None
        return self._go_on(
            f"you guessed {text}, which receives {black} black peg(s) and {white} white peg(s).",
            None if black <= self._most_black else self._progress(black),
        )

    def _progress(self, black: int) -> dict[str, float]:
        more = black - self._most_black
        self._most_black = black
        parts = {"progress": self.rewards.success * more / self.code_length}
        return parts if black == self.code_length else {"step": self.rewards.step, **parts}

    def sample_action(self) -> str:
        while (guess := _guess_text(self._draw(self.sample_rng))) in self._guesses:
            pass
        return f"\\boxed{{{guess}}}"

    def solve(self) -> str | None:
        """Guess the first code that every answer so far allows; None where the search is long."""
        guesses = [tuple(map(int, guess.split())) for guess in self._guesses]
        answers = {guess: count_pegs(self._code, guess) for guess in guesses}  # as was told
        code = first_code(
            self.code_length,
            self.num_numbers,
            self.duplicate_numbers,
            answers,
            most_tries=_TRIES // max(1, self.code_length * len(answers) // 100),  # 1 s at most
        )
        return f"\\boxed{{{_guess_text(code)}}}" if code else None


def _guess(words: list[str]) -> tuple[tuple[int, ...], str] | None:
    """Return the numbers, and how they are shown."""
    numbers = integers(words)
    return (numbers, _guess_text(numbers)) if numbers else None


_read = reader(_guess)


def _guess_text(guess: Sequence[int]) -> str:
    return " ".join(map(str, guess))


def _sizes(
    code_length: int | None, num_numbers: int | None, duplicate_numbers: bool
) -> list[tuple[int, int]]:
    """List the sizes an episode may have, what is not given taken from the published ones."""
    sizes = {
        (
            length if code_length is None else code_length,
            numbers if num_numbers is None else num_numbers,
        )
        for length, numbers in _SIZES
    }
    possible = sorted(
        (length, numbers)
        for length, numbers in sizes
        if 1 <= length <= _LONGEST
        and (1 if duplicate_numbers else length) <= numbers <= _MOST_NUMBERS
    )
    if not possible:
        raise BadArguments(
            f"Mastermind was given code_length={code_length}, num_numbers={num_numbers} and "
            f"duplicate_numbers={duplicate_numbers}, and there is no such code. Pass a length "
            f"from 1 to {_LONGEST}, at most {_MOST_NUMBERS:,} numbers and, without duplicates, at "
            "least as many as the length.",
            subject="Mastermind",
        )
    return possible


def count_pegs(code: Sequence[int], guess: Sequence[int]) -> tuple[int, int]:
    """Count (black, white): right numbers in their place, and right numbers elsewhere.

    >>> count_pegs((1, 2, 3, 4), (1, 3, 3, 2))
    (2, 1)
    """
    left = [*code]
    for number in guess:
        if number in left:
            left.remove(number)
    black = sum(map(eq, code, guess))
    return black, len(code) - len(left) - black


def first_code(
    code_length: int,
    num_numbers: int,
    duplicate_numbers: bool,
    answers: Mapping[tuple[int, ...], tuple[int, int]],
    *,
    most_tries: int = _TRIES,
) -> tuple[int, ...] | None:
    """Return the first code, in the order of numbers, that fits every answer.

    `answers` maps guesses to (black, white). None if no code fits, or if none was found in
    `most_tries`: the search can grow with the number of codes, and 4 of 8 takes less than 2,000.

    >>> first_code(4, 8, False, {(1, 2, 3, 4): (1, 1)})
    (1, 3, 5, 6)
    """
    tries = itertools.count(1)

    def extend(start: tuple[int, ...]) -> tuple[int, ...] | None:
        if len(start) == code_length:
            return start
        for number in range(1, num_numbers + 1):
            if next(tries) > most_tries:
                return None
            if duplicate_numbers or number not in start:
                longer = (*start, number)
                if all(_may_fit(longer, *answered) for answered in answers.items()):
                    code = extend(longer)
                    if code:
                        return code
        return None

    return extend(())


def _may_fit(start: tuple[int, ...], guess: tuple[int, ...], answer: tuple[int, int]) -> bool:
    """Tell whether a code that begins with `start` can still give `guess` this answer."""
    black, white = count_pegs(start, guess)
    room = len(guess) - len(start)
    return 0 <= answer[0] - black <= room and 0 <= sum(answer) - black - white <= room
