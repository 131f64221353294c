"""Return Batch Normalisation is consistent, not unbiased: its bias is c / N, in closed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from gem.returns import rebn

from .closed_forms import bias_of_rebn, deviation_of_turns
from .enumeration import (
    Floats,
    Integers,
    Policy,
    Turns,
    batches,
    columns,
    direction_error,
    expected_updates,
    one_by_one,
    policies,
)
from .small_environments import SmallEnvironment, chain, invest, tree

EPISODES = 64
BATCHES = 16_000
SHIPPED = 20  # batches of them that go through the shipped function as well


class Sample(NamedTuple):
    """Batches drawn under a policy, and for each the update by some estimator."""

    members: Integers
    by_rebn: Floats
    controls: list[Floats]


def draw(policy: Policy) -> Sample:
    """Draw batches, and compute all updates at once from how often each trajectory is in each."""
    turns = policy.turns
    rng = np.random.default_rng(5)
    members = rng.choice(len(policy.chances), size=(BATCHES, EPISODES), p=policy.chances)
    kinds = len(policy.chances)
    codes = (np.arange(BATCHES)[:, None] * kinds + members).ravel()
    counts = np.bincount(codes, minlength=BATCHES * kinds).reshape(BATCHES, kinds)
    totals = turns.totals(turns.returns)
    number = counts @ turns.lengths
    total = counts @ totals
    mean = total / number
    squares = counts @ turns.totals(turns.returns**2)
    std = np.sqrt(squares / number - mean**2)
    of_turns = counts[:, turns.owner] / EPISODES
    others = (total[:, None] - totals) / (number[:, None] - turns.lengths)
    centred = turns.returns - mean[:, None]
    less_others = turns.returns - others[:, turns.owner]
    return Sample(
        members=members,
        by_rebn=(of_turns * centred / std[:, None]) @ policy.scores,
        controls=[
            (of_turns * less_others) @ policy.scores - policy.turns_own,
            (of_turns * turns.returns) @ policy.scores - policy.turns_own,
            of_turns @ policy.scores,
        ],
    )


def controlled_mean(numbers: Floats, controls: list[Floats]) -> Floats:
    """Return the mean of what was drawn, less the noise that columns of known mean 0 explain."""
    explaining = np.concatenate(controls, axis=1)
    centred = explaining - explaining.mean(axis=0)
    slopes = np.linalg.lstsq(centred, numbers - numbers.mean(axis=0), rcond=None)[0]
    found: Floats = numbers.mean(axis=0) - explaining.mean(axis=0) @ slopes
    return found


def across(vector: Floats, target: Floats) -> Floats:
    """Return the part of a vector that is perpendicular to a target."""
    return vector - (vector @ target) / (target @ target) * target


@pytest.mark.parametrize("make", [chain, tree, invest])
def test_its_bias_in_batches_of_64_is_what_the_closed_form_says(
    make: Callable[[], SmallEnvironment],
) -> None:
    for policy in policies(Turns(make())):
        sample = draw(policy)
        update = controlled_mean(sample.by_rebn, sample.controls)

        std = deviation_of_turns(policy)
        found = EPISODES * std * across(update, policy.turns_own)
        predicted = -across(bias_of_rebn(policy), policy.turns_own)

        assert np.linalg.norm(found - predicted) < 0.15 * np.linalg.norm(predicted)


@pytest.mark.parametrize("make", [chain, tree, invest])
def test_the_drawn_updates_are_those_of_the_shipped_function(
    make: Callable[[], SmallEnvironment],
) -> None:
    [policy, *_] = policies(Turns(make()))
    sample = draw(policy)

    for number in range(SHIPPED):
        batch = columns(policy.turns, sample.members[number : number + 1])
        update = rebn(batch.returns) @ policy.scores[batch.place] / EPISODES
        assert np.allclose(update, sample.by_rebn[number], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("make", [chain, tree])
def test_in_batches_of_4_it_points_elsewhere(make: Callable[[], SmallEnvironment]) -> None:
    turns = Turns(make())
    estimate = one_by_one(lambda batch: rebn(batch.returns))

    updates = expected_updates(turns, batches(turns, 4), estimate, policies(turns))

    for update, policy in zip(updates, policies(turns), strict=True):
        assert direction_error(update, policy.turns_own) > 0.05
