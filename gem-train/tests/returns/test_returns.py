"""Returns and advantages, against their closed forms and brute-force definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.errors import BadArguments
from gem.returns import (
    discounted_returns,
    dr_grpo,
    gae,
    grpo,
    rebn,
    rloo,
    signed_rewards,
    to_tokens,
    to_turns,
)

GROUPED = [grpo, dr_grpo, rloo]
FLOATS = [np.float32, np.float64]
numbers = st.floats(-100, 100, allow_subnormal=False)
rewards = st.lists(numbers, min_size=1, max_size=30)
shares = st.floats(0, 1)
members = st.lists(st.tuples(numbers, st.integers(0, 3)), min_size=1, max_size=30)
constants = st.tuples(numbers, st.integers(1, 300))


def test_a_reward_at_the_end_is_discounted_once_a_turn() -> None:
    assert discounted_returns([0, 0, 1], gamma=0.5).tolist() == [0.25, 0.5, 1.0]


@given(rewards, shares)
def test_returns_are_sums_of_discounted_rewards(earned: list[float], gamma: float) -> None:
    wanted = [
        sum(gamma**ahead * reward for ahead, reward in enumerate(earned[turn:]))
        for turn in range(len(earned))
    ]

    assert discounted_returns(earned, gamma) == pytest.approx(wanted, abs=1e-9)


def test_an_episode_without_turns_has_no_returns() -> None:
    assert discounted_returns([], gamma=1.0).tolist() == []
    assert gae([], [], gamma=1.0, lam=1.0).tolist() == []


# generalised advantages


@given(rewards, shares, st.data())
def test_advantages_at_lambda_one_are_returns_less_values(
    earned: list[float], gamma: float, data: st.DataObject
) -> None:
    values = data.draw(st.lists(numbers, min_size=len(earned), max_size=len(earned)))

    wanted = discounted_returns(earned, gamma) - np.array(values)

    assert gae(earned, values, gamma, 1.0) == pytest.approx(wanted, abs=1e-7)


def test_advantages_at_lambda_zero_are_surprises() -> None:
    found = gae([1, 2, 3], [10, 20, 30], gamma=0.5, lam=0.0)

    assert found.tolist() == [1 + 10 - 10, 2 + 15 - 20, 3 - 30]


@given(rewards, shares, shares, numbers, st.data())
def test_advantages_are_sums_of_discounted_surprises(
    earned: list[float], gamma: float, lam: float, last: float, data: st.DataObject
) -> None:
    values = data.draw(st.lists(numbers, min_size=len(earned), max_size=len(earned)))
    following = [*values[1:], last]
    surprises = [r + gamma * f - v for r, f, v in zip(earned, following, values, strict=True)]

    wanted = [
        sum((gamma * lam) ** ahead * surprise for ahead, surprise in enumerate(surprises[turn:]))
        for turn in range(len(earned))
    ]

    assert gae(earned, values, gamma, lam, last_value=last) == pytest.approx(wanted, abs=1e-7)


def test_without_a_critic_advantages_are_returns() -> None:
    earned = [1.0, -2.0, 3.0]

    assert np.array_equal(gae(earned, [0, 0, 0], 0.9, 1.0), discounted_returns(earned, 0.9))


def test_an_unfinished_episode_goes_on_as_the_critic_expects() -> None:
    assert gae([0.0], [0.0], gamma=0.5, lam=1.0, last_value=8.0).tolist() == [4.0]


# a batch


@given(st.lists(numbers, min_size=2, max_size=50).filter(lambda each: np.std(each) > 1e-3))
def test_a_batch_is_normalised_to_mean_0_and_population_deviation_1(batch: list[float]) -> None:
    found = rebn(batch)

    assert found.mean() == pytest.approx(0, abs=1e-9)
    assert np.sqrt((found**2).mean()) == pytest.approx(1)


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=50), st.integers(1, 9))
def test_neither_shift_nor_scale_of_a_batch_matters(batch: list[int], scale: int) -> None:
    changed = [scale * each + 1000 for each in batch]

    assert rebn(changed) == pytest.approx(rebn(batch), abs=1e-9)


@given(rewards, st.data())
def test_a_batch_is_normalised_over_what_the_mask_leaves(
    batch: list[float], data: st.DataObject
) -> None:
    mask = data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch)))
    kept = [each for each, counts in zip(batch, mask, strict=True) if counts]
    mean, std = (np.mean(kept), np.std(kept)) if kept else (0.0, 0.0)

    wanted = [
        (each - mean) / std if counts and std > 1e-8 else 0.0
        for each, counts in zip(batch, mask, strict=True)
    ]

    assert rebn(batch, mask=mask) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("kind", FLOATS)
@given(constants)
def test_a_constant_batch_gives_exact_zeros(kind: Any, constant: tuple[float, int]) -> None:
    value, number = constant
    batch = np.full(number, value, kind)

    assert not rebn(batch).any()
    assert all(not of(batch, [0] * number).any() for of in GROUPED)


def test_a_spread_of_rounding_is_none() -> None:
    assert rebn([0.1 + 0.2, 0.3]).tolist() == [0.0, 0.0]
    assert rebn([-0.99e-8, 0.99e-8]).tolist() == [0.0, 0.0]
    assert rebn([-1e-8, 1e-8]).tolist() == [-1.0, 1.0]  # the least that counts


def test_what_differs_by_the_rounding_of_its_type_is_equal() -> None:
    rounded = np.array([0.1 + 0.2, 0.3, 0.3 + 3e-8], np.float32)
    large = 1e10 * np.array([0.1 + 0.2, 0.3])

    assert len(set(rounded.tolist())) == 2  # else this showed nothing
    assert not rebn(rounded).any()
    assert not grpo(rounded, [0, 0, 0]).any()
    assert not rebn(large).any()


def test_each_group_has_the_rounding_of_its_own_numbers() -> None:
    returns = np.array([1e6, 1e6 + 0.0625, 0.0, 1e-3], np.float32)

    assert grpo(returns, [0, 0, 1, 1]).tolist() == [0.0, 0.0, -1.0, 1.0]


def test_a_spread_that_its_type_can_hold_counts() -> None:
    found = grpo(np.array([1.0, 1.0001], np.float32), [0, 0])

    assert found.tolist() == [-1.0, 1.0]


# groups


def brute_force(of: Callable[..., Any], own: list[float], at: int) -> float:
    mean, std = float(np.mean(own)), float(np.std(own))
    if of is grpo:
        return (own[at] - mean) / std if std > 1e-8 else 0.0
    if of is dr_grpo:
        return own[at] - mean
    others = own[:at] + own[at + 1 :]
    return own[at] - float(np.mean(others)) if others else 0.0


@pytest.mark.parametrize("of", GROUPED)
@given(members)
def test_each_group_is_treated_by_itself(
    of: Callable[..., Any], batch: list[tuple[float, int]]
) -> None:
    returns, groups = [list(column) for column in zip(*batch, strict=True)]

    found = of(returns, groups)

    for at, group in enumerate(groups):
        places = [place for place, other in enumerate(groups) if other == group]
        own = [returns[place] for place in places]
        assert found[at] == pytest.approx(brute_force(of, own, places.index(at)), abs=1e-6)


@pytest.mark.parametrize("of", GROUPED)
def test_order_does_not_matter(of: Callable[..., Any]) -> None:
    returns, groups = np.array([3.0, 1.0, 4.0, 1.0, 5.0]), np.array(["a", "b", "a", "b", "a"])
    order = np.array([4, 2, 0, 1, 3])

    assert np.allclose(of(returns[order], groups[order]), of(returns, groups)[order])


@pytest.mark.parametrize("of", GROUPED)
def test_a_group_of_one_has_no_advantage(of: Callable[..., Any]) -> None:
    assert of([7.0, 1.0, 1.0], [0, 1, 1]).tolist() == [0.0, 0.0, 0.0]


def test_leaving_one_out_is_the_mean_baseline_scaled() -> None:
    returns, groups = [1.0, 2.0, 6.0], [0, 0, 0]

    assert np.allclose(rloo(returns, groups), dr_grpo(returns, groups) * 3 / 2)


@pytest.mark.parametrize(
    ("groups", "are_alike"),
    [
        ([2**63 + 1, 2**63 + 2, 5], False),
        ([1, "1", 5], False),
        ([None, "a", "b"], False),
        ([("env", 1), ("env", 2), "env"], False),
        ([("env", 1), ("env", 1), ("env", 2)], True),
        ([(0, 1), (0, 1), (0, 2)], True),
        ([2**70, 2**70, 5], True),
        (np.array(["a", "a", None], object), True),
        (["a", "a", "b"], True),
        ([frozenset({1}), frozenset({1}), 1], True),
    ],
)
def test_a_label_is_whatever_can_be_hashed(groups: Any, are_alike: bool) -> None:
    wanted = [-1.0, 1.0, 0.0] if are_alike else [0.0, 0.0, 0.0]

    assert grpo([0.0, 1.0, 5.0], groups).tolist() == wanted


def test_turns_of_a_group_get_credit_of_their_own() -> None:
    returns = np.concatenate([discounted_returns([0, 1], 0.5), discounted_returns([0], 0.5)])

    assert grpo(returns, to_turns([7, 7], [2, 1])).argmax() == 1


# masks


@pytest.mark.parametrize("of", GROUPED)
def test_what_is_masked_counts_for_nothing(of: Callable[..., Any]) -> None:
    found = of([0.0, 1.0, 99.0], [0, 0, 0], mask=[True, True, False])

    assert found.tolist() == [*of([0.0, 1.0], [0, 0]).tolist(), 0.0]


def test_a_batch_with_everything_masked_is_zeros() -> None:
    assert rebn([1.0, 2.0], mask=[False, False]).tolist() == [0.0, 0.0]


# the shape of things


def test_failing_costs_as_much_as_succeeding_gives() -> None:
    assert signed_rewards([0, 1], succeeded=True).tolist() == [0.0, 1.0]
    assert signed_rewards([0, 0, 0], succeeded=False).tolist() == [0.0, 0.0, -1.0]
    assert signed_rewards([], succeeded=False).tolist() == []


def test_tokens_between_turns_have_no_advantage() -> None:
    assert to_tokens([1, 2], [(0, 1), (3, 5)], 6).tolist() == [1, 0, 0, 2, 2, 0]
    assert to_tokens([1, 2], [(1, 1), (1, 2)], 2).tolist() == [0, 2]  # a turn without tokens


@pytest.mark.parametrize("kind", FLOATS)
def test_the_type_that_comes_in_comes_out(kind: Any) -> None:
    batch = np.array([0.0, 1.0], kind)

    found = [
        discounted_returns(batch, 0.9),
        gae(batch, batch, 0.9, 0.9),
        rebn(batch),
        *[of(batch, [0, 0]) for of in GROUPED],
        signed_rewards(batch, succeeded=False),
        to_turns(batch, [1, 2]),
        to_tokens(batch, [(0, 1), (1, 2)], 2),
    ]

    assert {each.dtype for each in found} == {np.dtype(kind)}


def test_what_is_given_is_not_changed() -> None:
    batch = np.array([0.0, 1.0])

    discounted_returns(batch, 0.5)
    signed_rewards(batch, succeeded=False)

    assert batch.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: rebn([[1.0]]), "returns has 2 dimensions, and must have one"),
        (lambda: rebn([1.0, float("nan")]), "returns holds a number that is not finite"),
        (lambda: rebn([1.0], mask=[True, True]), "mask has 2 entries, and there are 1"),
        (lambda: grpo([1.0], [0, 0]), "groups has 2 entries, and there are 1"),
        (
            lambda: grpo([1.0], None),  # type: ignore[arg-type]
            "groups is None, and must have an entry for each of the numbers",
        ),
        (lambda: grpo([1.0], np.array(5)), "groups is array.5., and must have an entry for each"),
        (
            lambda: grpo([1.0], [{}]),  # type: ignore[arg-type]
            r"groups holds what is no label \(unhashable type: 'dict'",
        ),
        (lambda: rebn(["a"]), "returns holds what is no number"),
        (lambda: gae([1.0], [1.0], 1, 1, last_value=np.inf), "last_value holds a number that is"),
        (
            lambda: gae([1.0], [1.0], 1, 1, last_value=None),  # type: ignore[arg-type]
            "last_value holds a number that is not finite",
        ),
        (lambda: gae([1.0], [], 1, 1), "values has 0 entries, and there are 1"),
        (lambda: gae([[1.0]], [1.0], 1, 1), "rewards has 2 dimensions"),
        (lambda: gae([1.0], [[1.0]], 1, 1), "values has 2 dimensions"),
        (lambda: gae([1.0], [1.0], 2, 1), "gamma is 2, and must be from 0 to 1"),
        (lambda: gae([1.0], [1.0], 1, 2), "lam is 2, and must be from 0 to 1"),
        (lambda: grpo([[1.0]], [0]), "returns has 2 dimensions"),
        (lambda: dr_grpo([[1.0]], [0]), "returns has 2 dimensions"),
        (lambda: rloo([[1.0]], [0]), "returns has 2 dimensions"),
        (lambda: signed_rewards([[1.0]], succeeded=True), "rewards has 2 dimensions"),
        (lambda: discounted_returns([[1.0]], 1.0), "rewards has 2 dimensions"),
        (lambda: discounted_returns([1.0], -0.1), "gamma is -0.1, and must be from 0 to 1"),
        (lambda: to_turns([1.0], []), "turns has 0 entries, and there are 1"),
        (lambda: to_turns([[1.0]], [1]), "advantages has 2 dimensions"),
        (lambda: to_turns([1.0], [[1]]), "turns has 2 dimensions"),  # type: ignore[list-item]
        (lambda: to_tokens([[1.0]], [(0, 1)], 1), "advantages has 2 dimensions"),
        (lambda: to_tokens([1.0, 1.0], [(0, 1)], 1), "spans has 1 entries, and there are 2"),
        (lambda: to_tokens([1.0], [(1, 9)], 5), r"spans has \(1, 9\) after 0, in 5 tokens"),
        (lambda: to_tokens([1.0, 1.0], [(1, 3), (2, 4)], 5), r"spans has \(2, 4\) after 3"),
    ],
)
def test_what_does_not_fit_is_one_error(call: Callable[[], Any], problem: str) -> None:
    with pytest.raises(BadArguments, match=problem):
        call()
