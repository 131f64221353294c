"""How estimators of episodes, and those with a critic, take the columns of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gem.returns import gae

from .enumeration import GAMMA, Batch, Estimator, Floats, Turns


def of_episodes(estimate: Callable[..., Any], numbers: Callable[[Batch], Floats]) -> Estimator:
    """Return an estimator that gives every turn the advantage of its episode.

    `estimate` takes a number for each episode, which `numbers` makes, and the batch of each.
    """

    def of_turns(batch: Batch) -> Floats:
        advantages = estimate(numbers(batch), batch.batch[_first_turns(batch)])
        return np.asarray(advantages[batch.episode])

    return of_turns


def sums_of_rewards(batch: Batch) -> Floats:
    """Return what each episode earns, undiscounted."""
    return np.asarray(np.bincount(batch.episode, batch.rewards), np.float64)


def returns_of_episodes(batch: Batch) -> Floats:
    """Return the discounted return of each episode."""
    return np.asarray(batch.returns[_first_turns(batch)])


def turns_of_episodes(batch: Batch) -> Floats:
    """Return for each turn how many its episode has."""
    return np.asarray(np.bincount(batch.episode)[batch.episode], np.float64)


def by_trajectory(turns: Turns, values: Floats, lam: float) -> Floats:
    """Return the generalised advantages of every trajectory, of what a critic expects."""
    advantages = [
        gae(turns.rewards[place], values[place], GAMMA, lam)
        for place in np.split(np.arange(len(values)), turns.first[1:])
    ]
    return np.concatenate(advantages)


def _first_turns(batch: Batch) -> Any:
    """Return where the first turn of each episode stands."""
    return np.unique(batch.episode, return_index=True)[1]
