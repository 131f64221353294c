"""The expected update of an estimator, and how far it varies: exactly, or from drawn batches.

What is known exactly of a batch (sums over its episodes, and products of two of them) is drawn
along with the update. Its deviation from what it should be explains most of the update's, and is
taken out: these are control variates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gem_baselines.gradients.batches import Batches, chances_of_starts
from gem_baselines.gradients.policy import SoftmaxPolicy
from gem_baselines.gradients.trajectories import Integers
from gem_baselines.learning_policy import Floats

__all__ = ["DrawnBatches", "Expectation", "enumerated"]

_CELLS = 4_000_000  # numbers that one array may have
_SINGULAR = 1e-12
_ROUNDING = 1e-9


class Expectation(NamedTuple):
    """The expected update of an episode, shape (parameters,), and its variance.

    `variance` is that of one episode's share of an update, summed over the parameters. `by_batch`
    has the update of each drawn batch without what is explained, shape (batches, parameters);
    None where the expectation is exact.
    """

    update: Floats
    variance: float
    by_batch: Floats | None = None


class Turns(NamedTuple):
    """The turns of batches as columns: the batch of each, and its place in the environment."""

    batch: Integers
    places: Integers


def turns_of(policy: SoftmaxPolicy, batches: Batches) -> Turns:
    """Return the turns of batches, in the order in which an estimator takes them."""
    trajectories = policy.trajectories
    members = batches.members.ravel()
    lengths = trajectories.lengths[members]
    episode = np.repeat(np.arange(len(members)), lengths)
    within = np.arange(len(episode)) - (np.cumsum(lengths) - lengths)[episode]
    return Turns(episode // batches.size, trajectories.first[members][episode] + within)


def enumerated(policy: SoftmaxPolicy, batches: Batches, advantages: Floats) -> Expectation:
    """Return the expectation over all batches, each by its chance."""
    turns = turns_of(policy, batches)
    chances = batches.chances(policy)
    update = np.zeros(policy.trajectories.parameters)
    square = 0.0
    most = max(_CELLS // policy.trajectories.parameters, 1)
    for part in batches.parts(most):
        begin, end = np.searchsorted(turns.batch, [part.start, part.stop])
        updates = policy.updates(
            turns.batch[begin:end] - part.start,
            turns.places[begin:end],
            advantages[begin:end] / batches.size,
            len(chances[part]),
        )
        update += chances[part] @ updates
        square += float(chances[part] @ (updates * updates).sum(axis=1))
    variance = max(square - float(update @ update), 0.0) * batches.size
    return Expectation(update, variance)


class DrawnBatches:
    """Batches that were drawn under a policy, and what is known of them beforehand.

    Made once for all estimators: what it holds takes tens of arrays of the size of all updates.
    """

    def __init__(self, policy: SoftmaxPolicy, batches: Batches) -> None:
        self.batches = batches
        self._policy = policy
        self._turns = turns_of(policy, batches)
        scalars = _scalars(policy, batches)
        vectors = _vectors(policy, batches, self._turns)
        shape = (len(vectors), 1 + len(scalars), len(batches), policy.trajectories.parameters)
        by_vector = np.empty(shape)
        for vector, own_controls in zip(vectors, by_vector, strict=True):
            own_controls[0] = vector.by_batch - vector.expected
            known = zip(scalars, vector.with_scalars, strict=True)
            for at, (scalar, expected) in enumerate(known, start=1):
                np.multiply(vector.by_batch, scalar[:, None], out=own_controls[at])
                own_controls[at] -= expected
        controls = by_vector.reshape(-1, *shape[2:])
        # Controls are of different size, and the smallest counts as much as the largest.
        controls /= np.abs(controls).max(axis=(1, 2), keepdims=True)
        self._means: Floats = controls.mean(axis=1)
        self._controls: Floats = controls.reshape(len(controls), -1)
        products = self._controls @ self._controls.T - len(batches) * self._means @ self._means.T
        self._inverse = np.linalg.pinv(products, rcond=_SINGULAR, hermitian=True)

    def expectation(self, advantages: Floats) -> Expectation:
        """Return the expectation, the noise that can be explained taken out."""
        number = len(self.batches)
        weights = advantages / self.batches.size
        updates = self._policy.updates(self._turns.batch, self._turns.places, weights, number)
        variance = float(updates.var(axis=0, ddof=1).sum()) * self.batches.size
        left = self._unexplained(updates)
        return Expectation(left.mean(axis=0), variance, left)

    def _unexplained(self, updates: Floats) -> Floats:
        """Return updates less what the controls, of mean 0, explain of them.

        A control has one factor for all parameters: with one for each, the few batches that reach
        a rare history would be explained by chance.
        """
        means = updates.mean(axis=0)
        products = self._controls @ updates.ravel() - len(updates) * self._means @ means
        explained = (self._inverse @ products) @ self._controls
        return np.asarray(updates - explained.reshape(updates.shape), np.float64)


class _Vector(NamedTuple):
    """An update whose expectation is known, and that of its products with each scalar."""

    by_batch: Floats
    expected: Floats
    with_scalars: list[Floats]


def _vectors(policy: SoftmaxPolicy, batches: Batches, turns: Turns) -> list[_Vector]:
    """Return updates by numbers of turns that depend on their own episode alone."""
    trajectories = policy.trajectories
    totals = trajectories.totals(trajectories.rewards)
    of_turns = [
        np.ones(len(trajectories.owner)),
        policy.returns - policy.mean_return,
        policy.returns - policy.values,
        (totals - policy.expected(totals))[trajectories.owner],
    ]
    if batches.are_groups:
        # What a group is compared with is near what its start returns.
        returns = trajectories.totals(policy.returns) / trajectories.lengths
        of_turns += [
            _expected_of_batch(policy, batches, numbers)[trajectories.owner]
            for numbers in (totals, returns)
        ]
    scalars = _scalars_of_trajectories(policy, batches)
    found = []
    largest = max(float(np.abs(policy.returns).max()), float(np.abs(totals).max()), 1.0)
    for numbers in of_turns:
        if np.abs(numbers).max() <= _ROUNDING * largest:
            continue
        weights = numbers[turns.places] / batches.size
        # The mean of a vector over N episodes, times that of a number that is 0 on average, is on
        # average 1/N of the mean of their product.
        known = [
            policy.expected_update(numbers * scalar[trajectories.owner]) / batches.size
            for scalar in scalars
        ]
        by_batch = policy.updates(turns.batch, turns.places, weights, len(batches))
        found.append(_Vector(by_batch, policy.expected_update(numbers), known))
    return found


def _scalars(policy: SoftmaxPolicy, batches: Batches) -> list[Floats]:
    """Return the mean over each batch of numbers that are 0 on average."""
    return [
        scalar[batches.members].mean(axis=1) for scalar in _scalars_of_trajectories(policy, batches)
    ]


def _scalars_of_trajectories(policy: SoftmaxPolicy, batches: Batches) -> list[Floats]:
    trajectories = policy.trajectories
    lengths = trajectories.lengths.astype(np.float64)
    apart = policy.returns - policy.mean_return
    totals = trajectories.totals(trajectories.rewards)
    numbers = (
        trajectories.totals(apart),
        trajectories.totals(apart**2),
        lengths,
        totals,
        totals**2,
    )
    found = []
    for each in numbers:
        centred = each - _expected_of_batch(policy, batches, each)
        # A number that is one for all leaves rounding, whose mean is not 0 beside its size.
        if np.abs(centred).max() > _ROUNDING * np.abs(each).max():
            found.append(centred)
    return found


def _expected_of_batch(policy: SoftmaxPolicy, batches: Batches, numbers: Floats) -> Floats:
    """Return what a number of each trajectory is on average: of all, or of those of its start."""
    if not batches.are_groups:
        return np.full(len(numbers), policy.expected(numbers))
    starts = policy.trajectories.starts
    sums = np.bincount(starts, policy.chances * numbers)
    found: Floats = (sums / chances_of_starts(policy))[starts]
    return found
