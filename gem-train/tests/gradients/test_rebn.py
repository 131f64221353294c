"""Return Batch Normalisation is consistent, not unbiased: its bias is c / N, in closed form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gem.returns import rebn

from .closed_forms import bias_of_rebn, deviation_of_turns
from .enumeration import (
    Batch,
    Floats,
    Policy,
    Turns,
    batches,
    direction_error,
    expected_updates,
    one_by_one,
    policies,
)
from .sampling import Estimate, controlled_mean, draw, first_order, second_order, updates
from .small_environments import SmallEnvironment, chain, invest, tree

EPISODES = 64
BATCHES = 2_000


def by_rebn(batch: Batch) -> Floats:
    return np.asarray(rebn(batch.returns))


def across(vector: Floats, target: Floats) -> Floats:
    """Return the part of a vector that is perpendicular to a target."""
    return vector - (vector @ target) / (target @ target) * target


def expected_update(policy: Policy) -> Estimate:
    drawn = draw(policy, episodes=EPISODES, batches=BATCHES)
    controls = [
        *first_order(policy, drawn, policy.turns.returns),
        *second_order(policy, drawn, policy.turns.returns),
    ]
    return controlled_mean(updates(policy, drawn, one_by_one(by_rebn)), controls)


@pytest.mark.parametrize("make", [chain, tree, invest])
def test_its_bias_in_batches_of_64_is_what_the_closed_form_says(
    make: Callable[[], SmallEnvironment],
) -> None:
    for policy in policies(Turns(make())):
        update = expected_update(policy).update

        std = deviation_of_turns(policy)
        found = EPISODES * std * across(update, policy.turns_own)
        predicted = -across(bias_of_rebn(policy), policy.turns_own)

        assert np.linalg.norm(found - predicted) < 0.15 * np.linalg.norm(predicted)


@pytest.mark.parametrize("make", [chain, tree])
def test_in_batches_of_4_it_points_elsewhere(make: Callable[[], SmallEnvironment]) -> None:
    turns = Turns(make())

    found = expected_updates(turns, batches(turns, 4), one_by_one(by_rebn), policies(turns))

    for update, policy in zip(found, policies(turns), strict=True):
        assert direction_error(update, policy.turns_own) > 0.05
