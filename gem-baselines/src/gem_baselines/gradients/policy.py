"""A softmax policy over the trajectories of an environment, and its exact gradients."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np

from gem.returns import discounted_returns
from gem_baselines.gradients.trajectories import Integers, Trajectories
from gem_baselines.learning_policy import Floats

__all__ = ["SoftmaxPolicy", "Target"]

Target = Literal["U", "J", "J1"]
"""What an estimator aims at.

With S(t) the gradient of the log-probability of a turn's action, r(t) its reward and G(t) its
discounted return: J is the gradient of E[sum of gamma^t r(t)], U is E[sum of S(t) G(t)], without
the discount of the state distribution, and J1 is the gradient of E[sum of r(t)].
"""


class SoftmaxPolicy:
    """A table of logits of shape (histories, actions), and what it plays how often.

    `chances` has shape (trajectories,) and sums to 1; `returns` is the discounted return from each
    turn, shape (turns,). A gradient has shape (parameters,), the table row by row.
    """

    def __init__(self, trajectories: Trajectories, logits: Floats, gamma: float) -> None:
        self.trajectories = trajectories
        self.gamma = gamma
        exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
        self.table: Floats = exponentials / exponentials.sum(axis=1, keepdims=True)
        of_actions = self.table[trajectories.rows, trajectories.actions]
        played = np.multiply.reduceat(of_actions, trajectories.first)
        self.chances: Floats = trajectories.chances * played
        self.returns: Floats = np.concatenate(
            [discounted_returns(each.rewards, gamma) for each in trajectories.all]
        )

    @classmethod
    def drawn(cls, trajectories: Trajectories, gamma: float, seed: int) -> SoftmaxPolicy:
        """Return the policy whose logits are normal, with mean 0 and variance 1."""
        logits = np.random.default_rng(seed).normal(size=trajectories.shape)
        return cls(trajectories, logits, gamma)

    def expected(self, numbers: Floats) -> float:
        """Return the expectation of a number of trajectories."""
        return float(self.chances @ numbers)

    def updates(self, batch: Integers, places: Integers, weights: Floats, number: int) -> Floats:
        """Return the update of each batch, shape (number, parameters).

        It is the sum over its turns of a weight times the gradient of the log-probability of the
        turn's action. `batch` and `places` are the batch and the place of each turn.
        """
        rows, actions = self.trajectories.shape
        cells = self.trajectories.rows[places] * actions + self.trajectories.actions[places]
        parameters = self.trajectories.parameters
        sums = np.bincount(batch * parameters + cells, weights, number * parameters)
        played = sums.reshape(number, rows, actions)
        # The gradient of a log-probability by its row of logits: 1 at the action, less the table.
        found = played - self.table * played.sum(axis=2, keepdims=True)
        return np.asarray(found.reshape(number, parameters), np.float64)

    def expected_update(self, advantages: Floats) -> Floats:
        """Return the expected update of an episode by an advantage of each turn."""
        turns = len(self.trajectories.owner)
        weights = self.chances[self.trajectories.owner] * advantages
        one_batch = np.zeros(turns, np.int64)
        found: Floats = self.updates(one_batch, np.arange(turns), weights, 1)[0]
        return found

    @cached_property
    def targets(self) -> dict[Target, Floats]:
        """The exact gradients: U, J and J1, which are one where gamma is 1."""
        trajectories = self.trajectories
        discounted = self.returns[trajectories.first]
        undiscounted = trajectories.totals(trajectories.rewards)
        return {
            "U": self.expected_update(self.returns),
            "J": self.expected_update(discounted[trajectories.owner]),
            "J1": self.expected_update(undiscounted[trajectories.owner]),
        }

    @cached_property
    def expected_return(self) -> float:
        """The expected discounted return of an episode, whose gradient is J."""
        return self.expected(self.returns[self.trajectories.first])

    @cached_property
    def mean_return(self) -> float:
        """The mean discounted return of a turn: expected sums of an episode, one by the other."""
        totals = self.trajectories.totals(self.returns)
        return self.expected(totals) / self.expected(self.trajectories.lengths.astype(np.float64))

    @cached_property
    def values(self) -> Floats:
        """What an exact critic expects before each turn, shape (turns,): its history's return."""
        rows = self.trajectories.rows
        weights = self.chances[self.trajectories.owner]
        number = self.trajectories.shape[0]
        seen = np.bincount(rows, weights, number)
        earned = np.bincount(rows, weights * self.returns, number)
        found: Floats = (earned / seen)[rows]
        return found
