"""The small environments and the gradients that all else is compared with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from .enumeration import Floats, Policy, Turns, policies, relative_error
from .small_environments import SmallEnvironment, chain, guess, invest, tree

STEP = 1e-5
SIZES = [(chain, 18, 9), (tree, 7, 9), (invest, 8, 10), (guess, 160, 124)]
environments = pytest.mark.parametrize("make", [chain, tree, invest, guess])


@pytest.mark.parametrize(("make", "trajectories", "parameters"), SIZES)
def test_every_trajectory_is_there_once(
    make: Callable[[], SmallEnvironment], trajectories: int, parameters: int
) -> None:
    environment = make()
    [policy, *_] = policies(Turns(environment))

    assert len(set(environment.trajectories)) == len(environment.trajectories) == trajectories
    assert environment.rows * environment.actions == parameters
    assert policy.chances.sum() == pytest.approx(1.0, abs=1e-12)


def difference_quotients(turns: Turns, logits: Floats, numbers: Floats) -> Floats:
    """Return how the expectation of a number of trajectories changes with each logit."""
    found = np.zeros_like(logits)
    for place in np.ndindex(logits.shape):
        moved = np.zeros_like(logits)
        moved[place] = STEP
        above = Policy(turns, logits + moved).expected(numbers)
        below = Policy(turns, logits - moved).expected(numbers)
        found[place] = (above - below) / (2 * STEP)
    return found.ravel()


@environments
def test_the_gradients_are_those_of_the_objectives(make: Callable[[], SmallEnvironment]) -> None:
    turns = Turns(make())
    logits = np.random.default_rng(0).normal(
        size=(turns.environment.rows, turns.environment.actions)
    )
    policy = Policy(turns, logits)
    discounted = turns.returns[turns.first]
    undiscounted = turns.totals(turns.rewards)

    by_differences = [
        difference_quotients(turns, logits, discounted),
        difference_quotients(turns, logits, undiscounted),
    ]

    assert relative_error(by_differences[0], policy.discounted) < 1e-7
    assert relative_error(by_differences[1], policy.undiscounted) < 1e-7


@environments
def test_without_a_discount_the_three_targets_are_one(make: Callable[[], SmallEnvironment]) -> None:
    turns = Turns(make(), gamma=1.0)

    for policy in policies(turns):
        assert relative_error(policy.discounted, policy.undiscounted) < 1e-12
        assert relative_error(policy.turns_own, policy.undiscounted) < 1e-12


@environments
def test_with_a_discount_the_three_targets_differ(make: Callable[[], SmallEnvironment]) -> None:
    for policy in policies(Turns(make())):
        assert relative_error(policy.turns_own, policy.discounted) > 0.01
        assert relative_error(policy.turns_own, policy.undiscounted) > 0.01
        assert relative_error(policy.discounted, policy.undiscounted) > 0.01
