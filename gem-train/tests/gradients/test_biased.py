"""What is biased at any size of batch and group stays so, and the docstrings say it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gem.returns import grpo, rebn_leave_one_out, rloo

from .enumeration import (
    Batch,
    Floats,
    Turns,
    batches,
    direction_error,
    expected_updates,
    groups,
    one_by_one,
    policies,
)
from .shipped import of_episodes, sums_of_rewards, turns_of_episodes
from .small_environments import SmallEnvironment, chain, guess, tree

LEAST = 0.05
SIZES = {chain: 3, tree: 4, guess: 2}
environments = pytest.mark.parametrize(("make", "size"), SIZES.items())


def test_a_group_divided_by_its_deviation_is_biased_with_several_starts() -> None:
    turns = Turns(guess())

    updates = expected_updates(
        turns, groups(turns, 3), of_episodes(grpo, sums_of_rewards), policies(turns)
    )

    for update, policy in zip(updates, policies(turns), strict=True):
        assert direction_error(update, policy.undiscounted) > LEAST


def test_it_stays_so_in_groups_of_any_size() -> None:
    """In the limit each start's gradient is divided by the deviation of that start."""
    turns = Turns(guess())
    totals = turns.totals(turns.rewards)

    for policy in policies(turns):
        found = np.zeros(policy.scores.shape[1])
        for start in np.unique(turns.starts):
            is_there = turns.starts == start
            chances = policy.chances * is_there / policy.chances[is_there].sum()
            mean = chances @ totals
            std = np.sqrt(chances @ (totals - mean) ** 2)
            found += policy.gradient_of_expected(is_there * totals) / std
        assert direction_error(found, policy.undiscounted) > LEAST


def tokens_of_episodes(batch: Batch, turns: Turns) -> Floats:
    """Return for each turn how many tokens its episode has: 1 to 4 a turn, by its action."""
    tokens = 1.0 + turns.actions[batch.place]
    return np.asarray(np.bincount(batch.episode, tokens)[batch.episode], np.float64)


@environments
@pytest.mark.parametrize("divisor", ["own turns", "own tokens"])
def test_a_mean_over_an_episodes_own_length_is_biased(
    make: Callable[[], SmallEnvironment], size: int, divisor: str
) -> None:
    turns = Turns(make())

    def estimate(batch: Batch) -> Floats:
        unbiased = rebn_leave_one_out(batch.returns, batch.episode, std=False)
        if divisor == "own turns":
            return np.asarray(unbiased / turns_of_episodes(batch))
        return np.asarray(unbiased / tokens_of_episodes(batch, turns))

    updates = expected_updates(turns, batches(turns, size), one_by_one(estimate), policies(turns))

    errors = [
        direction_error(update, policy.turns_own)
        for update, policy in zip(updates, policies(turns), strict=True)
    ]
    assert min(errors) > LEAST


@pytest.mark.parametrize("make", [chain, tree])
@pytest.mark.parametrize("estimate", [rloo, grpo])
def test_turns_as_if_they_were_episodes_are_biased(
    make: Callable[[], SmallEnvironment], estimate: Callable[..., Floats]
) -> None:
    turns = Turns(make())

    updates = expected_updates(
        turns,
        groups(turns, 4),
        lambda batch: estimate(batch.returns, batch.batch),
        policies(turns),
    )

    for update, policy in zip(updates, policies(turns), strict=True):
        assert direction_error(update, policy.turns_own) > 0.02
