"""The estimators that are said to be unbiased are, in every batch together, to 1e-9.

By enumeration: every batch of some episodes goes through the estimator as it is shipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gem.returns import dr_grpo, mt_rloo, rebn_leave_one_out, rloo

from .enumeration import (
    Batch,
    Batches,
    Floats,
    Turns,
    batches,
    direction_error,
    expected_updates,
    groups,
    one_by_one,
    policies,
    relative_error,
)
from .shipped import by_trajectory, of_episodes, returns_of_episodes, sums_of_rewards
from .small_environments import SmallEnvironment, chain, guess, invest, tree

TOLERANCE = 1e-9
SIZES = {chain: 3, tree: 4, invest: 4, guess: 2}


class Case:
    """An environment with its policies, and all of its batches and groups of a size."""

    def __init__(self, make: Callable[[], SmallEnvironment], size: int) -> None:
        self.size = size
        self.turns = Turns(make())
        self.policies = policies(self.turns)
        self.batches = batches(self.turns, size)
        self.groups = groups(self.turns, size)

    def updates(self, of: Batches, estimate: Callable[[Batch], Any]) -> list[Floats]:
        return expected_updates(self.turns, of, estimate, self.policies)


@pytest.fixture(scope="module", params=SIZES, ids=lambda make: make.__name__)
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param, SIZES[request.param])


def assert_equal(updates: list[Floats], targets: list[Floats]) -> None:
    errors = [
        relative_error(update, target) for update, target in zip(updates, targets, strict=True)
    ]
    assert max(errors) < TOLERANCE


@pytest.mark.parametrize("baseline", [0.0, 0.7])
def test_returns_less_any_constant_follow_the_turns_own_returns(
    case: Case, baseline: float
) -> None:
    updates = case.updates(case.batches, lambda batch: batch.returns - baseline)

    assert_equal(updates, [policy.turns_own for policy in case.policies])


@pytest.mark.parametrize("lam", [1.0, 0.95, 0.0])
def test_gae_of_an_exact_critic_is_unbiased_at_any_lambda(case: Case, lam: float) -> None:
    updates = [
        policy.update(by_trajectory(case.turns, policy.values, lam)) for policy in case.policies
    ]

    assert_equal(updates, [policy.turns_own for policy in case.policies])


def test_gae_of_a_constant_critic_is_unbiased_at_lambda_one_alone(case: Case) -> None:
    constant = np.full(len(case.turns.owner), 0.7)
    at_one = by_trajectory(case.turns, constant, 1.0)
    below = by_trajectory(case.turns, constant, 0.8)

    assert_equal(
        [policy.update(at_one) for policy in case.policies],
        [policy.turns_own for policy in case.policies],
    )
    for policy in case.policies:
        assert relative_error(policy.update(below), policy.turns_own) > 0.01


def test_rebn_less_the_own_episode_is_unbiased(case: Case) -> None:
    estimate = one_by_one(lambda batch: rebn_leave_one_out(batch.returns, batch.episode, std=False))

    updates = case.updates(case.batches, estimate)

    assert_equal(updates, [policy.turns_own for policy in case.policies])


def test_rebn_less_the_own_episode_with_the_others_deviation_is_unbiased_up_to_scale(
    case: Case,
) -> None:
    estimate = one_by_one(lambda batch: rebn_leave_one_out(batch.returns, batch.episode))

    updates = case.updates(case.batches, estimate)

    for update, policy in zip(updates, case.policies, strict=True):
        assert direction_error(update, policy.turns_own) < TOLERANCE


@pytest.mark.parametrize("ended", ["left_out", "zero"])
def test_turns_against_other_episodes_at_their_index_are_unbiased(case: Case, ended: Any) -> None:
    updates = case.updates(
        case.groups,
        lambda batch: mt_rloo(batch.returns, batch.batch, batch.episode, ended=ended),
    )

    assert_equal(updates, [policy.turns_own for policy in case.policies])


def test_episodes_against_others_follow_the_undiscounted_objective(case: Case) -> None:
    updates = case.updates(case.groups, of_episodes(rloo, sums_of_rewards))

    assert_equal(updates, [policy.undiscounted for policy in case.policies])


def test_discounted_episodes_against_others_follow_the_discounted_objective(case: Case) -> None:
    updates = case.updates(case.groups, of_episodes(rloo, returns_of_episodes))

    assert_equal(updates, [policy.discounted for policy in case.policies])


def test_episodes_against_their_group_with_themselves_are_shorter_by_one_in_m(case: Case) -> None:
    updates = case.updates(case.groups, of_episodes(dr_grpo, sums_of_rewards))

    shorter = 1.0 - 1.0 / case.size
    assert_equal(updates, [shorter * policy.undiscounted for policy in case.policies])
