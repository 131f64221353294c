"""Exact expectations over small environments: gradients of policies, and updates of estimators.

Advantages do not depend on the policy. So every possible batch goes through an estimator once, and
what comes out is weighed by how likely the batch is under each policy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem.returns import discounted_returns

from .small_environments import SmallEnvironment

GAMMA = 0.9
POLICIES = 3

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Turns:
    """The turns of all trajectories of an environment, one after another.

    `owner` is the trajectory of each turn, `index` its place there, `lengths` the turns of each
    trajectory, and `first` where its first turn stands.
    """

    def __init__(self, environment: SmallEnvironment, gamma: float = GAMMA) -> None:
        self.environment = environment
        self.gamma = gamma
        trajectories = environment.trajectories
        self.lengths: Integers = np.array([len(each.rows) for each in trajectories])
        self.first: Integers = np.cumsum(self.lengths) - self.lengths
        self.owner: Integers = np.repeat(np.arange(len(trajectories)), self.lengths)
        self.index: Integers = np.arange(len(self.owner)) - self.first[self.owner]
        self.starts: Integers = np.array([each.start for each in trajectories])
        self.is_cut_off = np.array([each.is_cut_off for each in trajectories])
        self.rows: Integers = _column(each.rows for each in trajectories)
        self.actions: Integers = _column(each.actions for each in trajectories)
        self.rewards: Floats = _column(each.rewards for each in trajectories)
        self.returns: Floats = _column(
            discounted_returns(each.rewards, gamma) for each in trajectories
        )

    @cached_property
    def is_last(self) -> NDArray[np.bool_]:
        """Whether each turn ends its trajectory."""
        found: NDArray[np.bool_] = self.index == self.lengths[self.owner] - 1
        return found

    def totals(self, numbers: Floats) -> Floats:
        """Return the sum of a number of turns over each trajectory."""
        return _sums(self.owner, numbers, len(self.lengths))


class Policy:
    """A softmax policy in an environment: what it plays how often, and its gradients.

    `chances` has shape (trajectories,), `scores` (turns, parameters): the gradient of the
    logarithm of the probability of each turn's action.
    """

    def __init__(self, turns: Turns, logits: Floats) -> None:
        self.turns = turns
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        table = shifted / shifted.sum(axis=1, keepdims=True)
        of_actions = table[turns.rows, turns.actions]
        of_environment = np.array([each.chance for each in turns.environment.trajectories])
        self.chances: Floats = of_environment * np.multiply.reduceat(of_actions, turns.first)
        scores = np.zeros((len(turns.owner), *logits.shape))
        places = np.arange(len(turns.owner))
        scores[places, turns.rows] = -table[turns.rows]
        scores[places, turns.rows, turns.actions] += 1.0
        self.scores: Floats = scores.reshape(len(scores), -1)

    def expected(self, numbers: Floats) -> float:
        """Return the expectation of a number of trajectories."""
        return float(self.chances @ numbers)

    def update(self, advantages: Floats) -> Floats:
        """Return the expected update of an episode, of advantages that depend on it alone."""
        found: Floats = (self.chances[self.turns.owner] * advantages) @ self.scores
        return found

    def gradient_of_expected(self, numbers: Floats) -> Floats:
        """Return the gradient of the expectation of a number of trajectories."""
        return self.update(numbers[self.turns.owner])

    @cached_property
    def turns_own(self) -> Floats:
        """The target U: every turn by its own return."""
        return self.update(self.turns.returns)

    @cached_property
    def discounted(self) -> Floats:
        """The target J: the gradient of the discounted objective."""
        return self.gradient_of_expected(self.turns.returns[self.turns.first])

    @cached_property
    def undiscounted(self) -> Floats:
        """The target J1: the gradient of the undiscounted objective."""
        return self.gradient_of_expected(self.turns.totals(self.turns.rewards))

    @cached_property
    def values(self) -> Floats:
        """What a critic that is exact expects before each turn: the mean return of its row."""
        weights = self.chances[self.turns.owner]
        rows = self.turns.environment.rows
        seen = _sums(self.turns.rows, weights, rows)
        earned = _sums(self.turns.rows, weights * self.turns.returns, rows)
        found: Floats = (earned / seen)[self.turns.rows]
        return found


class Batches(NamedTuple):
    """Batches of trajectories: `members` has shape (batches, size), `ways` counts their orders.

    `share_start` where each is a group: its start is drawn once, and not for every member.
    """

    members: Integers
    ways: Floats
    share_start: bool = False


class Batch(NamedTuple):
    """The turns of batches as an estimator takes them, a column each.

    `batch` and `episode` name the batch and the episode of each turn, over all batches; `place` is
    the turn's place among those of the environment, and `owner` its trajectory.
    """

    batch: Integers
    episode: Integers
    place: Integers
    owner: Integers
    rewards: Floats
    returns: Floats


Estimator = Callable[[Batch], Any]


def policies(turns: Turns) -> list[Policy]:
    """Return the policies that everything is checked with, from fixed seeds."""
    shape = (turns.environment.rows, turns.environment.actions)
    return [
        Policy(turns, np.random.default_rng(seed).normal(size=shape)) for seed in range(POLICIES)
    ]


def batches(turns: Turns, size: int) -> Batches:
    """Return every batch of so many trajectories, in one order of the many that it has."""
    return _multisets(range(len(turns.lengths)), size)


def ordered_batches(turns: Turns, size: int) -> Batches:
    """Return every batch in every order."""
    members = np.array(list(itertools.product(range(len(turns.lengths)), repeat=size)))
    return Batches(members, np.ones(len(members)))


def groups(turns: Turns, size: int) -> Batches:
    """Return every group of so many trajectories: they share a start."""
    starts = np.unique(turns.starts)
    parts = [_multisets(np.flatnonzero(turns.starts == start).tolist(), size) for start in starts]
    return Batches(
        members=np.concatenate([part.members for part in parts]),
        ways=np.concatenate([part.ways for part in parts]),
        share_start=True,
    )


def columns(turns: Turns, members: Integers) -> Batch:
    """Return the turns of batches, given as trajectories of shape (batches, size)."""
    trajectories = members.ravel()
    lengths = turns.lengths[trajectories]
    episode = np.repeat(np.arange(len(trajectories)), lengths)
    within = np.arange(len(episode)) - (np.cumsum(lengths) - lengths)[episode]
    place = turns.first[trajectories][episode] + within
    return Batch(
        batch=episode // members.shape[1],
        episode=episode,
        place=place,
        owner=trajectories[episode],
        rewards=turns.rewards[place],
        returns=turns.returns[place],
    )


def one_by_one(estimate: Estimator) -> Estimator:
    """Return an estimator of many batches that takes each by itself."""

    def of_all(batch: Batch) -> Floats:
        cuts = np.flatnonzero(np.diff(batch.batch)) + 1
        split = [np.split(column, cuts) for column in batch]
        parts = [estimate(Batch(*part)) for part in zip(*split, strict=True)]
        return np.concatenate(parts)

    return of_all


def expected_updates(
    turns: Turns, of: Batches, estimate: Estimator, players: Sequence[Policy]
) -> list[Floats]:
    """Return for each policy the expected update of an episode, over all batches.

    `of` is from `groups`, `batches` or `ordered_batches`.
    """
    batch = columns(turns, of.members)
    advantages = np.asarray(estimate(batch), np.float64)
    updates = []
    for policy in players:
        chances = _chances(turns, of, policy)
        weights = chances[batch.batch] * advantages / of.members.shape[1]
        of_turns = _sums(batch.place, weights, len(turns.owner))
        updates.append(of_turns @ policy.scores)
    return updates


def direction_error(update: Floats, target: Floats) -> float:
    """Return the sine of the angle between an update and its target.

    It is the relative error that the best positive scale leaves: 1 where no such scale helps.
    """
    length = float(np.linalg.norm(target))
    along = float(update @ target) / length
    if along <= 0.0:
        return 1.0
    across = update - along * target / length
    return float(np.linalg.norm(across) / np.linalg.norm(update))


def relative_error(update: Floats, target: Floats) -> float:
    """Return how far an update is from its target, the target's length being 1."""
    return float(np.linalg.norm(update - target) / np.linalg.norm(target))


def _chances(turns: Turns, of: Batches, policy: Policy) -> Floats:
    """Return how likely each batch is: its trajectories, times the orders that they may have."""
    found: Floats = of.ways * np.prod(policy.chances[of.members], axis=1)
    if not of.share_start:
        return found
    # The start of a group is drawn once, and is in the chance of each of its members.
    chance_of_start = _sums(turns.starts, policy.chances, int(turns.starts.max()) + 1)
    drawn = chance_of_start[turns.starts[of.members[:, 0]]]
    found /= drawn ** (of.members.shape[1] - 1)
    return found


def _multisets(trajectories: Sequence[int], size: int) -> Batches:
    """Return all batches without regard to order, and how many orders each has."""
    members = np.array(list(itertools.combinations_with_replacement(trajectories, size)))
    ways = np.full(len(members), float(math.factorial(size)))
    # Equal trajectories stand together: a run of k of them divides the orders by k!, which is
    # done by a factor 1/k at the k-th.
    run = np.ones(len(members))
    for at in range(1, size):
        run = np.where(members[:, at] == members[:, at - 1], run + 1.0, 1.0)
        ways /= run
    return Batches(members, ways)


def _column(parts: Iterator[Any]) -> Any:
    return np.concatenate([np.asarray(part) for part in parts])


def _sums(cells: Integers, weights: Floats, number: int) -> Floats:
    return np.asarray(np.bincount(cells, weights, number), np.float64)
