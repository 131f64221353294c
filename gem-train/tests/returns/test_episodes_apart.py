"""Estimators that are told which episode a turn is of, against their definitions by loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem.errors import BadArguments
from gem.returns import dr_grpo, grpo, mt_grpo, mt_rloo, rebn_leave_one_out

from . import batches
from .batches import Turn, columns


def leave_one_out(numbers: Any, _: Any, episodes: Any, **options: Any) -> Any:
    """Call ReBN less the own episode as the others are called: it knows no groups."""
    return rebn_leave_one_out(numbers, episodes, **options)


ESTIMATORS = {
    "leave one out": leave_one_out,
    "leave one out, mean": partial(leave_one_out, std=False),
    "alive": mt_rloo,
    "ended is zero": partial(mt_rloo, ended="zero"),
    "published": mt_grpo,
    "natural": partial(mt_grpo, std=False, later_turns=True),
}
every = pytest.mark.parametrize("estimate", ESTIMATORS.values(), ids=list(ESTIMATORS))


@pytest.mark.parametrize("std", [True, False])
@given(batches.batches())
def test_a_turn_is_taken_against_all_turns_of_other_episodes(std: bool, batch: list[Turn]) -> None:
    numbers, _, episodes = columns(batch)

    found = rebn_leave_one_out(numbers, episodes, std=std)

    assert found == pytest.approx(batches.rebn_leave_one_out(batch, std=std), abs=1e-9)


@pytest.mark.parametrize("ended", ["left_out", "zero"])
@given(batches.batches())
def test_a_turn_is_taken_against_other_episodes_at_its_index(ended: Any, batch: list[Turn]) -> None:
    found = mt_rloo(*columns(batch), ended=ended)

    assert found == pytest.approx(batches.mt_rloo(batch, ended), abs=1e-9)


@pytest.mark.parametrize("std", [True, False])
@pytest.mark.parametrize("later_turns", [True, False])
@given(batches.batches(), st.sampled_from([1.0, 0.5]))
def test_a_turn_is_credited_with_rewards_and_the_outcome(
    std: bool, later_turns: bool, batch: list[Turn], weight: float
) -> None:
    options: dict[str, Any] = {"std": std, "later_turns": later_turns, "turn_weight": weight}

    found = mt_grpo(*columns(batch), **options)

    assert found == pytest.approx(batches.mt_grpo(batch, **options), abs=1e-9)


def test_without_options_it_is_the_published_form() -> None:
    rewards = [1.0, 2.0, 0.0, 3.0, 3.0, 4.0]
    episodes = [0, 0, 0, 1, 1, 1]

    found = mt_grpo(rewards, ["g"] * 6, episodes)

    # Of two that differ the lower is -1 and the higher 1: in each turn, and in the outcome.
    assert found.tolist() == [-2.0, -2.0, -1.0, 2.0, 2.0, 1.0]


def test_episodes_of_one_turn_are_groups_as_ever() -> None:
    rewards = [0.0, 1.0, 5.0, 3.0]
    groups = [0, 0, 1, 1]
    episodes = ["a", "b", "c", "d"]

    assert mt_grpo(rewards, groups, episodes).tolist() == grpo(rewards, groups).tolist()
    assert mt_grpo(rewards, groups, episodes, std=False).tolist() == [-0.5, 0.5, 1.0, -1.0]
    assert dr_grpo(rewards, groups).tolist() == [-0.5, 0.5, 1.0, -1.0]


# what none of them does


@every
@settings(max_examples=40)
@given(batches.batches(), st.data())
def test_what_is_masked_is_as_if_it_had_not_been_given(
    estimate: Callable[..., Any], batch: list[Turn], data: st.DataObject
) -> None:
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch))))
    kept = [turn for turn, counts in zip(batch, mask, strict=True) if counts]

    found = estimate(*columns(batch), mask=mask)

    assert np.array_equal(found[mask], estimate(*columns(kept)))
    assert not found[~mask].any()


@every
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_type_that_comes_in_comes_out(estimate: Callable[..., Any], kind: Any) -> None:
    found = estimate(np.array([0.0, 1.0], kind), ["g", "g"], [0, 1])

    assert found.dtype == np.dtype(kind)


@every
def test_equal_turns_are_exact_zeros(estimate: Callable[..., Any]) -> None:
    episodes = [0, 0, 1, 1, 2, 2]

    assert not estimate([0.1] * 6, ["g"] * 6, episodes).any()


@every
def test_no_turns_have_no_advantages(estimate: Callable[..., Any]) -> None:
    assert estimate([], [], []).tolist() == []


@pytest.mark.parametrize("ended", ["left_out", "zero"])
def test_a_turn_without_others_keeps_its_return(ended: Any) -> None:
    returns = [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]

    assert mt_rloo(returns, list("aabbcc"), [0, 0, 1, 1, 2, 2], ended=ended).tolist() == returns


def test_an_episode_without_others_is_compared_with_nothing() -> None:
    assert rebn_leave_one_out([3.0, 4.0], [0, 0], std=False).tolist() == [0.0, 0.0]
    assert rebn_leave_one_out([3.0, 4.0], [0, 0]).tolist() == [0.0, 0.0]


def test_an_outlier_leaves_the_others_their_digits() -> None:
    others = [1.0, 1.0 + 1e-6, 1.0 - 1e-6]
    episodes = [0, 1, 2, 3]

    found = rebn_leave_one_out([1e9, *others], episodes)

    assert found[0] == pytest.approx((1e9 - 1.0) / np.std(others), rel=1e-6)


def test_others_that_differ_by_rounding_are_equal() -> None:
    assert rebn_leave_one_out([7.0, 0.1 + 0.2, 0.3], [0, 1, 2])[0] == 0.0
    # In the type that they came in, and whatever the own episode earned.
    rounded = np.array([7.0, 0.3, 0.3 + 3e-8], np.float32)
    assert len(set(rounded.tolist())) == 3
    assert rebn_leave_one_out(rounded, [0, 1, 2])[0] == 0.0
    apart = np.array([1e6, 0.0, 1e-3], np.float32)
    assert rebn_leave_one_out(apart, [0, 1, 2])[0] > 1e6


def test_rewards_that_differ_by_rounding_are_equal() -> None:
    rewards = np.array([0.3, 0.3 + 3e-8], np.float32)

    assert not mt_grpo(rewards, ["g", "g"], [0, 1]).any()


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: rebn_leave_one_out([1.0], [0, 0]), "episodes has 2 entries, and there are 1"),
        (lambda: rebn_leave_one_out([[1.0]], [0]), "returns has 2 dimensions"),
        (lambda: rebn_leave_one_out([1.0], [[0]]), "episodes has 2 dimensions, and must have one"),
        (lambda: rebn_leave_one_out([1.0], [0], mask=[]), "mask has 0 entries, and there are 1"),
        (lambda: rebn_leave_one_out([1.0], [0], mask=[[True]]), "mask has 2 dimensions"),
        (lambda: mt_rloo([[1.0]], [0], [0]), "returns has 2 dimensions"),
        (lambda: mt_rloo([1.0], [], [0]), "groups has 0 entries, and there are 1"),
        (lambda: mt_rloo([1.0], [0], []), "episodes has 0 entries, and there are 1"),
        (
            lambda: mt_rloo([1.0, 1.0], [0, 1], ["a", "a"]),
            "episodes has 'a' in two groups, and each needs a name of its own",
        ),
        (
            lambda: mt_rloo([9.0, 1.0, 1.0], [0, 0, 1], [1, ("a", 2), ("a", 2)], mask=[0, 1, 1]),
            r"episodes has \('a', 2\) in two groups",
        ),
        (
            lambda: mt_rloo([1.0], [0], [0], ended="one"),  # type: ignore[arg-type]
            "ended is 'one', and must be 'left_out' or 'zero'",
        ),
        (lambda: mt_grpo([[1.0]], [0], [0]), "rewards has 2 dimensions"),
        (
            lambda: mt_grpo([1.0], [0], [0], turn_weight=float("nan")),
            "turn_weight is nan, and must be finite",
        ),
    ],
)
def test_what_does_not_fit_is_one_error(call: Callable[[], Any], problem: str) -> None:
    with pytest.raises(BadArguments, match=problem):
        call()
