"""An audit of the expected update finds the bugs that training loops have, each in all policies.

The audit plays every batch, in every order, and compares the update with the target U.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from gem.returns import discounted_returns, mt_rloo, rloo

from .enumeration import (
    GAMMA,
    Batch,
    Estimator,
    Floats,
    Turns,
    direction_error,
    expected_updates,
    ordered_batches,
    policies,
    relative_error,
)
from .small_environments import chain, tree

SIZE = 3
ENVIRONMENTS = (chain, tree)


def right(batch: Batch) -> Floats:
    """Do it as it is meant: each turn's return against other episodes alive at its index."""
    return np.asarray(mt_rloo(batch.returns, batch.batch, batch.episode))


def reward_one_turn_late(batch: Batch) -> Floats:
    """Count each reward to the turn after the one that earned it."""
    late = np.where(_is_first(batch), 0.0, np.roll(batch.rewards, 1))
    return right(batch._replace(returns=_returns(late, batch.episode)))


def next_turns_advantage(batch: Batch) -> Floats:
    """Shift the mask, so that the tokens of a turn get the advantage of the next one."""
    is_last = np.roll(_is_first(batch), -1)
    return np.where(is_last, 0.0, np.roll(right(batch), -1))


def cut_off_thrown_away(turns: Turns) -> Estimator:
    """Leave out the episodes that a limit of turns ended."""

    def estimate(batch: Batch) -> Floats:
        mask = ~turns.is_cut_off[batch.owner]
        return np.asarray(mt_rloo(batch.returns, batch.batch, batch.episode, mask=mask))

    return estimate


def baseline_by_own_stop(batch: Batch) -> Floats:
    """Subtract as many means of rewards as the episode itself goes on to have turns."""
    centred = np.asarray(mt_rloo(batch.rewards, batch.batch, batch.episode))
    return _returns(centred, batch.episode)


def one_turn_left_out(batch: Batch) -> Floats:
    """Leave the turn out of its baseline, and not its episode."""
    return np.asarray(rloo(batch.returns, batch.batch))


def return_not_reset(batch: Batch) -> Floats:
    """Sum the rewards of a batch backwards, over the ends of its episodes."""
    return right(batch._replace(returns=_returns(batch.rewards, batch.batch)))


def _is_first(batch: Batch) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = batch.episode != np.roll(batch.episode, 1)
    return found


def _returns(rewards: Floats, owner: NDArray[np.int64]) -> Floats:
    """Return the discounted returns of each run of turns that have one owner."""
    cuts = np.flatnonzero(np.diff(owner)) + 1
    return np.concatenate([discounted_returns(each, GAMMA) for each in np.split(rewards, cuts)])


class Audit(NamedTuple):
    """How far the expected update is from its target: relative errors, and the worst direction."""

    least: float
    most: float
    worst_direction: float


def audit(bind: Callable[[Turns], Estimator]) -> Audit:
    """Play every batch of the environments through an estimator, for every policy."""
    errors = []
    directions = []
    for make in ENVIRONMENTS:
        turns = Turns(make())
        players = policies(turns)
        updates = expected_updates(turns, ordered_batches(turns, SIZE), bind(turns), players)
        for update, policy in zip(updates, players, strict=True):
            errors.append(relative_error(update, policy.turns_own))
            directions.append(direction_error(update, policy.turns_own))
    return Audit(min(errors), max(errors), max(directions))


def free(estimate: Estimator) -> Callable[[Turns], Estimator]:
    """Return an estimator that needs to know nothing of its environment."""
    return lambda _: estimate


BUGS: dict[str, Callable[[Turns], Estimator]] = {
    "a reward one turn late": free(reward_one_turn_late),
    "the mask shifted: the next turn's advantage": free(next_turns_advantage),
    "cut-off episodes thrown away": cut_off_thrown_away,
    "a baseline by turn index up to the own stop": free(baseline_by_own_stop),
    "one turn left out, not one episode": free(one_turn_left_out),
    "a return not reset between episodes": free(return_not_reset),
}


def test_the_audit_passes_what_is_right() -> None:
    assert audit(free(right)).most < 1e-9


@pytest.mark.parametrize("bug", BUGS.values(), ids=list(BUGS))
def test_the_audit_finds(bug: Callable[[Turns], Estimator]) -> None:
    found = audit(bug)

    assert found.least > 0.05
    assert found.worst_direction > 0.05
