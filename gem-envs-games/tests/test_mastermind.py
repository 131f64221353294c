from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem
from gem.content import observation_text
from gem.errors import BadArguments
from gem_envs_games.mastermind import count_pegs, first_code

Code = tuple[int, ...]


def started(*, seed: int = 0, **kwargs: Any) -> gem.Env:
    env = gem.make("game:Mastermind-v0-hard", **kwargs)
    env.reset(seed=seed)
    return env


def box(numbers: Iterable[int]) -> str:
    return "\\boxed{" + " ".join(map(str, numbers)) + "}"


def solved(env: gem.Env) -> tuple[Code, int]:
    """Return the code that won and the turns it took."""
    while True:
        action = env.solve()
        assert action is not None
        step = env.step(action)
        if step.terminated or step.truncated:
            assert step.info["success"]
            return tuple(map(int, action[7:-1].split())), env.turn


def pegs_by_pairing(code: Code, guess: Code) -> tuple[int, int]:
    """Count pegs by trying every pairing of places: black are fixed, white the most others."""
    black = {place for place in range(len(code)) if code[place] == guess[place]}
    open_places = [place for place in range(len(code)) if place not in black]
    white = max(
        sum(guess[one] == code[other] for one, other in zip(open_places, order, strict=True))
        for order in itertools.permutations(open_places)
    )
    return len(black), white


codes = st.integers(1, 5).flatmap(
    lambda length: st.tuples(
        *[st.lists(st.integers(1, 4), min_size=length, max_size=length).map(tuple)] * 2
    )
)


@given(codes)
def test_pegs_are_the_most_that_any_pairing_gives(pair: tuple[Code, Code]) -> None:
    assert count_pegs(*pair) == pegs_by_pairing(*pair)


@given(codes)
def test_pegs_do_not_depend_on_which_of_the_two_is_secret(pair: tuple[Code, Code]) -> None:
    code, guess = pair

    assert count_pegs(code, guess) == count_pegs(guess, code)


@given(
    st.integers(1, 4),
    st.integers(4, 6),
    st.booleans(),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=5),
)
def test_the_solver_finds_the_first_code_that_fits_every_answer(
    length: int, numbers: int, duplicates: bool, picks: list[int]
) -> None:
    every = itertools.product(range(1, numbers + 1), repeat=length)
    possible = [code for code in every if duplicates or len(set(code)) == length]
    secret, *guesses = [possible[pick % len(possible)] for pick in picks]
    answers = {guess: count_pegs(secret, guess) for guess in guesses}

    expected = next(
        code
        for code in possible
        if all(count_pegs(code, guess) == answer for guess, answer in answers.items())
    )
    assert first_code(length, numbers, duplicates, answers) == expected


def test_answers_that_no_code_fits_have_no_code() -> None:
    assert first_code(2, 3, False, {(1, 2): (2, 0), (1, 3): (2, 0)}) is None


def test_a_longer_code_is_broken_as_well() -> None:
    env = started(code_length=6, num_numbers=10, max_turns=20)

    assert len(solved(env)[0]) == 6


def test_a_search_that_grows_too_long_is_given_up() -> None:
    secret = tuple(range(20, 0, -2))
    guesses = [tuple(range(start, start + 10)) for start in range(1, 12)]
    answers = {guess: count_pegs(secret, guess) for guess in guesses}

    assert first_code(10, 20, False, answers, most_tries=1000) is None


def test_hard_never_comes_near_the_longest_search() -> None:
    answers: dict[Code, tuple[int, int]] = {}
    for guess in ((1, 2, 3, 4), (2, 1, 5, 6), (3, 5, 1, 7)):
        answers[guess] = count_pegs((8, 7, 6, 5), guess)

    assert first_code(4, 8, False, answers, most_tries=2000) is not None


@pytest.mark.parametrize(("length", "numbers", "limit"), [(2, 4, 10), (2, 6, 10), (4, 6, 20)])
def test_the_solver_breaks_every_code_within_the_limit(
    length: int, numbers: int, limit: int
) -> None:
    assert max(turns_for_every_code(length, numbers)) <= limit


def test_the_solver_breaks_each_of_the_1680_codes_of_hard_in_8_turns_at_most() -> None:
    turns = turns_for_every_code(4, 8)

    assert len(turns) == 1680
    assert max(turns) <= 8


def turns_for_every_code(length: int, numbers: int) -> list[int]:
    return [
        turns_for(secret, numbers)
        for secret in itertools.permutations(range(1, numbers + 1), length)
    ]


def turns_for(secret: Code, numbers: int) -> int:
    answers: dict[Code, tuple[int, int]] = {}
    while secret not in answers:
        guess = first_code(len(secret), numbers, False, answers)
        assert guess is not None
        answers[guess] = count_pegs(secret, guess)
    return len(answers)


def test_solve_depends_on_what_was_shown_and_not_on_the_code() -> None:
    env = gem.make("game:Mastermind-v0-hard")
    moves: dict[tuple[str, ...], set[str | None]] = defaultdict(set)
    secrets: dict[tuple[str, ...], set[Code]] = defaultdict(set)
    for seed in range(60):
        shown = [observation_text(env.reset(seed=seed)[0])]
        for guess in ((1, 2, 3, 4), (1, 1, 2, 2), (5, 6, 7)):
            shown.append(observation_text(env.step(box(guess)).observation))
            moves[tuple(shown)].add(env.solve())
            secrets[tuple(shown)].add(solved(env.fork())[0])

    assert max(len(found) for found in secrets.values()) > 3
    assert {len(found) for found in moves.values()} == {1}


def test_the_pegs_of_a_guess_are_shown() -> None:
    env = started()
    secret, _ = solved(env.fork())
    rest = [number for number in range(1, 9) if number not in secret]

    step = env.step(box((secret[0], secret[2], secret[1], rest[0])))

    assert "receives 1 black peg(s) and 2 white peg(s)." in observation_text(step.observation)


def test_more_black_pegs_than_ever_before_earn_their_share() -> None:
    env = started()
    secret, _ = solved(env.fork())
    rest = [number for number in range(1, 9) if number not in secret]
    guesses = [
        (*secret[:2], *rest[:2]),
        (secret[0], *rest[:3]),
        (*rest[:2], *secret[2:]),
        (*secret[:3], rest[0]),
        secret,
    ]

    steps = [env.step(box(guess)) for guess in guesses]

    assert [step.reward for step in steps] == [0.5, 0.0, 0.0, 0.25, 0.25]
    assert [step.terminated for step in steps] == [False] * 4 + [True]


def test_a_guess_may_hold_a_number_twice() -> None:
    assert "action_error" not in started().step(box((1, 1, 2, 2))).info


def test_a_repeated_guess_is_refused_however_it_is_spelled() -> None:
    env = started()
    wrong = (1, 1, 1, 1)
    env.step(box(wrong))

    step = env.step("\\boxed{1, 1, 1, 1}")

    assert step.info["action_error"] == "invalid"
    assert "guessed before" in observation_text(step.observation)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 2 3", "3 numbers and not 4"),
        ("1 2 3 4 5", "5 numbers and not 4"),
        ("12 34", "2 numbers and not 4"),
        ("123", "1 numbers and not 4"),
        ("12345", "1 numbers and not 4"),
        ("0 1 2 3", "not from 1 to 8"),
        ("1 2 3 9", "not from 1 to 8"),
        ("1 2 3 -4", "not from 1 to 8"),
        ("1239", "not from 1 to 8"),
    ],
)
def test_a_guess_that_is_no_code_is_refused_with_the_reason(text: str, reason: str) -> None:
    step = started().step(f"\\boxed{{{text}}}")

    assert step.info["action_error"] == "invalid"
    assert reason in observation_text(step.observation)


@pytest.mark.parametrize("text", ["1, 2, 3, 4", "[1, 2, 3, 4]", "(1 2 3 4)", "1234", " 1234 "])
def test_a_guess_is_read_in_odd_spellings(text: str) -> None:
    plain = started().step("\\boxed{1 2 3 4}")

    assert started().step(f"\\boxed{{{text}}}") == plain


def test_digits_are_not_taken_apart_where_a_number_may_have_two() -> None:
    step = started(num_numbers=12).step("\\boxed{1234}")

    assert "1 numbers and not 4" in observation_text(step.observation)


@pytest.mark.parametrize("text", ["A B C D", "1 2 3 x", "red blue", "----"])
def test_what_is_not_numbers_ends_the_game(text: str) -> None:
    assert started().step(f"\\boxed{{{text}}}").info["action_error"] == "format"


@pytest.mark.parametrize("seed", range(20))
def test_a_code_without_duplicates_has_none(seed: int) -> None:
    assert len(set(solved(started(seed=seed))[0])) == 4


def test_a_code_with_duplicates_may_have_more_places_than_numbers() -> None:
    env = started(code_length=6, num_numbers=2, duplicate_numbers=True)
    sampled = env.step(env.sample_action())

    assert "action_error" not in sampled.info
    assert solved(env)[0].count(1) in range(7)


def test_instructions_say_whether_numbers_repeat() -> None:
    plain, _ = started().reset(seed=0)
    repeating, _ = started(duplicate_numbers=True).reset(seed=0)

    assert "are all different" in observation_text(plain)
    assert "may appear more than once" in observation_text(repeating)


def test_random_sizes_are_the_published_ones_with_their_turns() -> None:
    env = gem.make("game:Mastermind-v0-random")
    found = set()
    for seed in range(50):
        text = observation_text(env.reset(seed=seed)[0])
        match = re.search(r"code: (\d+) numbers from 1 to (\d+),.* have (\d+) turns", text)
        assert match is not None
        found.add(tuple(map(int, match.groups())))

    assert found == {(2, 4, 10), (4, 6, 20), (4, 8, 30)}


def test_turns_that_are_not_given_suffice_for_another_size() -> None:
    env = started(code_length=3, num_numbers=5, max_turns=None)

    assert env.max_turns == 15
    assert solved(env)[1] <= 15


@pytest.mark.parametrize(
    "kwargs",
    [
        {"code_length": 0},
        {"code_length": -1},
        {"code_length": 101, "duplicate_numbers": True},
        {"num_numbers": 0, "duplicate_numbers": True},
        {"code_length": 9},
        {"code_length": None, "num_numbers": 1},
        {"num_numbers": 10**30},
    ],
)
def test_a_size_without_codes_is_refused(kwargs: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match="there is no such code"):
        started(**kwargs)


def test_instructions_say_how_a_repeated_number_is_answered() -> None:
    text, _ = gem.make("game:Mastermind-v0-hard").reset(seed=0)

    assert "one peg at most" in observation_text(text)
