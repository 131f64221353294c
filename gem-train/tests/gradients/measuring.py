"""Direction errors of estimators in the small environments: of three policies the worst."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .enumeration import (
    Batch,
    Estimator,
    Floats,
    Policy,
    Turns,
    batches,
    direction_error,
    expected_updates,
    groups,
    one_by_one,
    policies,
)
from .sampling import controlled_mean, draw, first_order, second_order, updates
from .shipped import by_trajectory
from .small_environments import chain, guess, invest, tree

ENVIRONMENTS = {"chain": chain, "tree": tree, "invest": invest, "guess": guess}

Numbers = Callable[[Policy], Floats]
Normalise = Callable[[Floats, Any], Any]


class Measured(NamedTuple):
    """A direction error, and its standard error: 0 where every batch was enumerated."""

    error: float
    standard_error: float = 0.0


class Case:
    """An environment and its policies."""

    def __init__(self, name: str) -> None:
        self.turns = Turns(ENVIRONMENTS[name]())
        self.policies = policies(self.turns)

    def alone(self, numbers: Numbers) -> Measured:
        """Measure advantages that depend on their own episode alone, against the target U."""
        errors = [
            direction_error(policy.update(numbers(policy)), policy.turns_own)
            for policy in self.policies
        ]
        return Measured(max(errors))

    def in_groups(self, size: int, estimate: Estimator, target: str) -> Measured:
        """Measure an estimator in every group of a size. `target` names a property of a policy."""
        found = expected_updates(self.turns, groups(self.turns, size), estimate, self.policies)
        errors = [
            direction_error(update, getattr(policy, target))
            for update, policy in zip(found, self.policies, strict=True)
        ]
        return Measured(max(errors))

    def in_batches(self, size: int, numbers: Numbers, normalise: Normalise) -> Measured:
        """Measure numbers that are normalised over a batch, in every batch of a size."""
        every = batches(self.turns, size)
        errors = []
        for policy in self.policies:
            estimate = _normalising(numbers(policy), normalise)
            [update] = expected_updates(self.turns, every, estimate, [policy])
            errors.append(direction_error(update, policy.turns_own))
        return Measured(max(errors))

    def in_drawn_batches(
        self, size: int, numbers: Numbers, normalise: Normalise, *, number: int
    ) -> Measured:
        """Measure the same in so many batches that are drawn."""
        found = []
        for policy in self.policies:
            of_turns = numbers(policy)
            drawn = draw(policy, episodes=size, batches=number)
            controls = first_order(policy, drawn, of_turns)
            controls += second_order(policy, drawn, of_turns)
            by_batch = updates(policy, drawn, _normalising(of_turns, normalise))
            estimate = controlled_mean(by_batch, controls)
            error = np.linalg.norm(estimate.error) / np.linalg.norm(estimate.update)
            found.append(Measured(direction_error(estimate.update, policy.turns_own), float(error)))
        return max(found)


def own_returns(policy: Policy) -> Floats:
    """Return each turn's own return."""
    return policy.turns.returns


def own_returns_less(constant: float) -> Numbers:
    """Return each turn's own return, less a constant that is fixed beforehand."""
    return lambda policy: policy.turns.returns - constant


def advantages_of_exact_critic(lam: float) -> Numbers:
    """Return generalised advantages by a critic that knows what each row is worth."""
    return lambda policy: by_trajectory(policy.turns, policy.values, lam)


def advantages_of_constant_critic(lam: float) -> Numbers:
    """Return generalised advantages by a critic that expects the mean return of a turn always."""

    def numbers(policy: Policy) -> Floats:
        turns = policy.turns
        expected_turns = policy.expected(turns.lengths.astype(np.float64))
        mean = policy.expected(turns.totals(turns.returns)) / expected_turns
        return by_trajectory(turns, np.full(len(turns.owner), mean), lam)

    return numbers


def _normalising(numbers: Floats, normalise: Normalise) -> Estimator:
    def of_batch(batch: Batch) -> Any:
        return normalise(numbers[batch.place], batch.episode)

    return one_by_one(of_batch)
