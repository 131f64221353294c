"""Every course of chance is taken once, with its probability."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from gem_baselines.exact.chance import Uncountable, courses, courses_by_length


def _shuffled(rng: random.Random) -> tuple[int, ...]:
    numbers = [1, 2, 3]
    rng.shuffle(numbers)
    return tuple(numbers)


def _compared(number: float) -> str:
    if number < 0.2:
        return "low"
    return "middle" if number < 0.6 else "high"


def _compared_in_parts(number: float) -> tuple[bool, int, int]:
    return number < 0.4, int(number * 2), int(number * 2)


def _caught(rng: random.Random) -> int:
    """Go on whatever happens, as an environment may."""
    try:
        return rng.getrandbits(64) % 2
    except Exception:  # noqa: BLE001
        return 0


DRAWS: dict[str, Callable[[random.Random], Any]] = {
    "randint": lambda rng: rng.randint(1, 6),
    "randrange with a step": lambda rng: rng.randrange(0, 20, 5),
    "choice": lambda rng: rng.choice("abc"),
    "shuffle": _shuffled,
    "sample": lambda rng: tuple(rng.sample(range(4), 2)),
    "getrandbits": lambda rng: rng.getrandbits(2),
    "choices": lambda rng: tuple(rng.choices("abc", [1, 0, 0.5], k=2)),
    "choices by sums": lambda rng: rng.choices("abc", cum_weights=[0.25, 0.25, 1])[0],
    "choices without weights": lambda rng: rng.choices("abc")[0],
    "random below": lambda rng: rng.random() < 0.3,
    "random from below": lambda rng: rng.random() >= 0.3,
    "random beyond what it can be": lambda rng: (rng.random() < 1.5, rng.random() > -1),
    "random compared with infinity": lambda rng: (rng.random() < math.inf, rng.choice("ab")),
    "random compared twice": lambda rng: _compared(rng.random()),
    "random in parts": lambda rng: (int(rng.random() * 3), math.floor(4 * rng.random())),
    "random compared and in parts": lambda rng: _compared_in_parts(rng.random()),
    "a large number that is kept": lambda rng: (rng.choice("ab"), [rng.getrandbits(64)])[0],
    "one that decides the next": lambda rng: rng.choice([0, rng.randint(1, 3)]),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_courses_have_the_results_of_a_real_generator_in_their_proportions(name: str) -> None:
    draw = DRAWS[name]
    exact: dict[Any, Fraction] = {}
    for probability, result in courses(draw, at_most=100):
        exact[result] = exact.get(result, Fraction(0)) + probability

    number = 20_000
    rng = random.Random(0)
    drawn = Counter(draw(rng) for _ in range(number))

    assert sum(exact.values()) == 1
    assert exact.keys() == drawn.keys()
    for result, probability in exact.items():
        spread = 5 * (probability * (1 - probability) / number) ** 0.5
        assert drawn[result] / number == pytest.approx(float(probability), abs=spread)


def test_what_has_one_outcome_is_no_draw() -> None:
    assert list(courses(lambda rng: rng.randint(3, 3), at_most=1)) == [(Fraction(1), 3)]


@pytest.mark.parametrize(
    ("draw", "why"),
    [
        (lambda rng: rng.gauss(0, 1), "a draw of a real number"),
        (lambda rng: rng.random() + 1, "a draw of a real number"),
        (lambda rng: math.sqrt(rng.random()), "a draw of a real number"),
        (lambda rng: rng.random() * 0.5, "a draw of a real number"),
        (lambda rng: str(rng.random() * 3), "a draw of a real number"),
        (lambda rng: rng.getrandbits(64) % 2, "a draw of a large number"),
        (lambda rng: f"{rng.getrandbits(64)}", "a draw of a large number"),
        (lambda rng: {rng.getrandbits(64)}, "a draw of a large number"),
        (lambda rng: 3 - rng.getrandbits(64), "a draw of a large number"),
        (lambda rng: rng.getrandbits(64).bit_length(), "a draw of a large number"),
        (lambda rng: isinstance(rng.getrandbits(64), int), "a draw of a large number"),
        (lambda rng: "abc"[rng.getrandbits(64)], "a draw of a large number"),
        (lambda rng: json.dumps(rng.getrandbits(64)), "a draw of a large number"),
        (lambda rng: random.Random(rng.getrandbits(64)), "a draw of a large number"),
        (_caught, "a draw of a large number"),
        (lambda rng: rng.randint(1, 11), "more than 10 courses"),
        (lambda rng: [rng.choice("ab") for _ in range(4)], "more than 3 draws in a row"),
    ],
)
def test_what_cannot_be_enumerated_says_why(draw: Callable[[Any], Any], why: str) -> None:
    with pytest.raises(Uncountable, match=why):
        list(courses(draw, at_most=10, most_draws=3))


def test_a_real_number_that_is_kept_to_another_course_is_not_drawn_in_that() -> None:
    kept: list[float] = []

    def draw(rng: random.Random) -> bool:
        kept.append(rng.random())
        return rng.choice("ab") == "a" and kept[0] < 0.5

    with pytest.raises(Uncountable, match="a draw of a real number"):
        list(courses(lambda rng: draw(rng) or kept[0] < 0.5, at_most=10))


def test_courses_come_by_the_number_of_their_draws() -> None:
    def until_heads(rng: random.Random) -> int:
        flips = 1
        while rng.choice(["tails", "heads"]) == "tails":
            flips += 1
        return flips

    by_length = itertools.islice(courses_by_length(until_heads, at_most=99), 3)

    assert list(by_length) == [[(Fraction(1, 2), 1)], [(Fraction(1, 4), 2)], [(Fraction(1, 8), 3)]]


@pytest.mark.parametrize("name", DRAWS)
def test_the_courses_of_all_lengths_are_all_courses(name: str) -> None:
    draw = DRAWS[name]

    by_length = list(courses_by_length(draw, at_most=100))

    assert sorted(itertools.chain(*by_length)) == sorted(courses(draw, at_most=100))
