from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem
from gem.content import observation_text
from gem.errors import BadArguments


def started(*, seed: int = 0, **kwargs: Any) -> gem.Env:
    env = gem.make("game:GuessTheNumber-v0", **kwargs)
    env.reset(seed=seed)
    return env


def box(number: int) -> str:
    return f"\\boxed{{{number}}}"


def target(env: gem.Env) -> int:
    """Find the target as a player would, on a twin with turns to spare."""
    low = env.min_number  # type: ignore[attr-defined]
    high = env.max_number  # type: ignore[attr-defined]
    return next(number for number in range(low, high + 1) if env.fork().step(box(number))[2])


def solved(env: gem.Env) -> tuple[int, int]:
    """Return the number that won and the turns it took."""
    while True:
        action = env.solve()
        assert action is not None
        step = env.step(action)
        if step.terminated or step.truncated:
            assert step.info["success"]
            return int(action[7:-1]), env.turn


def turns_of_every_target(env_id: str, count: int) -> dict[int, int]:
    env = gem.make(env_id)
    turns = dict[int, int]()
    seed = 0
    while len(turns) < count:
        env.reset(seed=seed)
        turns.update([solved(env)])
        seed += 1
    return turns


def test_bisection_takes_243_turns_over_the_50_numbers_of_hard() -> None:
    turns = turns_of_every_target("game:GuessTheNumber-v0-hard", 50)

    assert sorted(turns) == list(range(1, 51))
    assert sum(turns.values()) == 243
    assert max(turns.values()) == 6


def test_bisection_takes_29_turns_over_the_10_numbers_of_easy() -> None:
    turns = turns_of_every_target("game:GuessTheNumber-v0-easy", 10)

    assert sum(turns.values()) == 29
    assert max(turns.values()) == 4


@given(st.integers(-(10**12), 10**12), st.integers(0, 10**9), st.integers())
def test_bisection_never_needs_more_than_the_logarithm_of_the_range(
    low: int, span: int, seed: int
) -> None:
    env = started(min_number=low, max_number=low + span, max_turns=100, seed=seed)

    assert solved(env)[1] <= (span + 1).bit_length()


@given(st.integers(0, 10**4), st.integers())
def test_turns_that_are_not_given_suffice_for_bisection(span: int, seed: int) -> None:
    env = started(min_number=1, max_number=1 + span, max_turns=None, seed=seed)

    assert env.max_turns == math.ceil(math.sqrt(span)) + 1
    assert solved(env)[1] <= env.max_turns


def test_solve_depends_on_what_was_shown_and_not_on_the_target() -> None:
    env = gem.make("game:GuessTheNumber-v0-hard", max_turns=20)
    moves: dict[tuple[str, ...], set[str | None]] = defaultdict(set)
    seeds: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for seed in range(60):
        shown = [observation_text(env.reset(seed=seed)[0])]
        for guess in (10, 60, 40, 40, 25):
            step = env.step(box(guess))
            shown.append(observation_text(step.observation))
            if step.terminated:
                break
            moves[tuple(shown)].add(env.solve())
            seeds[tuple(shown)].add(str(solved(env.fork())[0]))

    assert max(len(found) for found in seeds.values()) > 5
    assert {len(found) for found in moves.values()} == {1}


def test_hints_say_on_which_side_the_target_is() -> None:
    env = started()
    number = target(env)
    lowest = env.step(box(1))
    highest = env.step(box(20))

    assert 1 < number < 20
    assert "target number is higher." in observation_text(lowest.observation)
    assert "target number is lower." in observation_text(highest.observation)


def test_the_target_wins() -> None:
    env = started()

    step = env.step(box(target(env)))

    assert step[1:4] == (1.0, True, False)
    assert step.info == {"success": True, "reward_parts": {"success": 1.0}}


@pytest.mark.parametrize("guess", [0, -5, 21, 10**500])
def test_a_guess_out_of_range_is_refused(guess: int) -> None:
    step = started().step(box(guess))

    assert step.info["action_error"] == "invalid"
    assert "not from 1 to 20" in observation_text(step.observation)


def test_a_repeated_guess_is_refused() -> None:
    env = started()
    wrong = box(1 if target(env) != 1 else 2)
    env.step(wrong)

    step = env.step(wrong)

    assert step.info["action_error"] == "invalid"
    assert "guessed before" in observation_text(step.observation)


def test_zero_and_negative_numbers_can_be_the_target() -> None:
    env = started(min_number=-3, max_number=0, max_turns=9)

    assert solved(env)[0] in range(-3, 1)


@pytest.mark.parametrize("seed", range(10))
def test_a_miss_on_the_last_turn_earns_its_closeness(seed: int) -> None:
    env = started(min_number=1, max_number=50, max_turns=1, seed=seed)
    number = target(env)
    guess = 1 if number != 1 else 50

    step = env.step(box(guess))

    assert step.reward == pytest.approx(1 - abs(guess - number) / 49)
    assert step.truncated
    assert step.info["reward_parts"]["distance"] == step.reward


def test_a_guess_before_the_last_turn_earns_nothing() -> None:
    env = started(max_turns=3)
    number = target(env)
    misses = [guess for guess in range(1, 21) if guess != number][:3]

    rewards = [env.step(box(guess)).reward for guess in misses]

    assert rewards[:2] == [0.0, 0.0]
    assert rewards[2] > 0.0


def test_a_repeat_on_the_last_turn_earns_nothing() -> None:
    env = started(max_turns=2)
    near = target(env) - 1 or 2
    env.step(box(near))

    step = env.step(box(near))

    assert (step.reward, step.truncated) == (0.0, True)
    assert step.info["reward_parts"] == {"invalid": 0.0, "fail": 0.0}


def test_a_guess_out_of_range_on_the_last_turn_earns_nothing() -> None:
    assert started(max_turns=1).step(box(21)).reward == 0.0


def test_random_ranges_are_drawn_as_published() -> None:
    env = gem.make("game:GuessTheNumber-v0-random")
    lows = set()
    spans = set()
    for seed in range(600):
        found = re.search(
            r"from (-?\d+) to (\d+), both included. You have (\d+) turns",
            observation_text(env.reset(seed=seed)[0]),
        )
        assert found is not None
        low, high, turns = map(int, found.groups())
        lows.add(low)
        spans.add(high - low)
        assert turns == env.max_turns == math.ceil(math.sqrt(high - low)) + 1

    assert lows == set(range(1, 11))
    assert spans == set(range(5, 51))


@given(st.integers(-100, 100), st.integers())
def test_a_bound_that_is_not_given_is_drawn_on_the_right_side(bound: int, seed: int) -> None:
    below = started(min_number=None, max_number=bound, seed=seed)
    above = started(min_number=bound, max_number=None, seed=seed)

    assert below.min_number <= bound  # type: ignore[attr-defined]
    assert bound + 5 <= above.max_number <= bound + 50  # type: ignore[attr-defined]


def test_every_number_of_the_range_is_drawn_about_as_often() -> None:
    env = gem.make("game:GuessTheNumber-v0-easy")
    counts: dict[int, int] = defaultdict(int)
    for seed in range(1000):
        env.reset(seed=seed)
        counts[solved(env)[0]] += 1

    assert sorted(counts) == list(range(1, 11))
    assert min(counts.values()) > 60
    assert max(counts.values()) < 150


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(BadArguments, match="min_number <= max_number"):
        started(min_number=5, max_number=4)


@pytest.mark.parametrize("bound", [{"max_number": 10**5000}, {"min_number": -(10**101)}])
def test_numbers_too_long_to_write_are_refused(bound: dict[str, int]) -> None:
    with pytest.raises(BadArguments, match="more than 100 digits"):
        started(**bound)
