"""What a test may assert where batches can only be drawn: one number, along a fixed direction.

20,000 episodes show a bias of some percent, and an alarm at five standard errors is never false.
"""

from __future__ import annotations

import numpy as np

from gem.returns import mt_rloo, rloo

from .enumeration import (
    Batch,
    Estimator,
    Floats,
    Policy,
    Turns,
    columns,
    expected_updates,
    groups,
    policies,
)
from .small_environments import tree

EPISODES = 20_000
SIZE = 4
ALARM = 5.0


def against_other_episodes(batch: Batch) -> Floats:
    return np.asarray(mt_rloo(batch.returns, batch.batch, batch.episode))


def against_other_turns(batch: Batch) -> Floats:
    return np.asarray(rloo(batch.returns, batch.batch))


def along(policy: Policy, direction: Floats, estimate: Estimator) -> float:
    """Return how many standard errors the update drawn is off its target along a direction."""
    rng = np.random.default_rng(11)
    number = EPISODES // SIZE
    members = rng.choice(len(policy.chances), size=(number, SIZE), p=policy.chances)
    batch = columns(policy.turns, members)
    of_turns = np.asarray(estimate(batch)) * (policy.scores @ direction)[batch.place]
    of_groups = np.bincount(batch.batch, of_turns) / SIZE
    off = of_groups.mean() - policy.turns_own @ direction
    return float(off / (of_groups.std() / np.sqrt(number)))


def test_a_sample_passes_the_right_estimator_and_finds_the_wrong_one() -> None:
    turns = Turns(tree())
    policy = policies(turns)[1]
    [expected] = expected_updates(turns, groups(turns, SIZE), against_other_turns, [policy])
    bias = expected - policy.turns_own  # fixed before anything is drawn

    assert abs(along(policy, bias, against_other_episodes)) < ALARM
    assert along(policy, bias, against_other_turns) > ALARM
