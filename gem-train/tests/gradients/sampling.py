"""Expected updates where batches are too many to enumerate: drawn, with the noise taken out.

What is known exactly of a batch (sums over its episodes, and products of two of them) is drawn
along with the update. Its deviation from what it should be explains most of the update's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .enumeration import Estimator, Floats, Integers, Policy, Turns, columns


class Estimate(NamedTuple):
    """An expected update, and the standard error of its parameters."""

    update: Floats
    error: Floats


class Drawn(NamedTuple):
    """Batches drawn under a policy: `members` of shape (batches, episodes), and how often each
    trajectory is in each, of shape (batches, trajectories).
    """

    members: Integers
    counts: Integers


def draw(policy: Policy, *, episodes: int, batches: int, seed: int = 5) -> Drawn:
    """Draw batches of so many episodes each, from a fixed seed."""
    kinds = len(policy.chances)
    rng = np.random.default_rng(seed)
    members = rng.choice(kinds, size=(batches, episodes), p=policy.chances)
    codes = np.arange(batches)[:, None] * kinds + members
    counts = np.bincount(codes.ravel(), minlength=batches * kinds).reshape(batches, kinds)
    return Drawn(members, counts)


def updates(policy: Policy, drawn: Drawn, estimate: Estimator) -> Floats:
    """Return the update of each batch by an estimator, of shape (batches, parameters)."""
    turns = policy.turns
    batch = columns(turns, drawn.members)
    advantages = np.asarray(estimate(batch), np.float64)
    shape = (len(drawn.members), len(turns.owner))
    codes = batch.batch * shape[1] + batch.place
    of_turns = np.bincount(codes, advantages, shape[0] * shape[1]).reshape(shape)
    found: Floats = of_turns @ policy.scores / drawn.members.shape[1]
    return found


def first_order(policy: Policy, drawn: Drawn, numbers: Floats) -> list[Floats]:
    """Return updates of known mean less that mean: of all scores as they are, and of numbers."""
    shares = drawn.counts / drawn.members.shape[1]
    of_turns = shares[:, policy.turns.owner]
    return [
        of_turns @ policy.scores,
        (of_turns * numbers) @ policy.scores - policy.update(numbers),
    ]


def second_order(policy: Policy, drawn: Drawn, numbers: Floats) -> list[Floats]:
    """Return products of two means over a batch, less what they are on average.

    The mean of a vector over N episodes, times that of a number that is 0 on average, is on
    average 1/N of the mean of their product.
    """
    turns = policy.turns
    episodes = drawn.members.shape[1]
    shares = drawn.counts / episodes
    lengths = turns.lengths.astype(np.float64)
    expected_turns = policy.expected(lengths)
    mean = policy.expected(turns.totals(numbers)) / expected_turns
    squares = turns.totals((numbers - mean) ** 2)
    variance = policy.expected(squares) / expected_turns
    of_mean_0 = (
        turns.totals(numbers - mean),
        squares - variance * lengths,
        lengths - expected_turns,
    )
    found = []
    for of_turns in (np.ones(len(numbers)), numbers - mean):
        vectors = _of_trajectories(turns, of_turns, policy.scores)
        for scalars in of_mean_0:
            products = (shares @ vectors) * (shares @ scalars)[:, None]
            known = (policy.chances * scalars) @ vectors / episodes
            found.append(products - known)
    return found


def controlled_mean(drawn_updates: Floats, controls: list[Floats]) -> Estimate:
    """Return the mean of updates, less what columns of mean 0 explain of their noise."""
    explaining = np.concatenate(controls, axis=1)
    centred = explaining - explaining.mean(axis=0)
    apart = drawn_updates - drawn_updates.mean(axis=0)
    slopes = np.linalg.lstsq(centred, apart, rcond=None)[0]
    left = apart - centred @ slopes
    return Estimate(
        update=drawn_updates.mean(axis=0) - explaining.mean(axis=0) @ slopes,
        error=left.std(axis=0) / np.sqrt(len(left)),
    )


def _of_trajectories(turns: Turns, numbers: Floats, scores: Floats) -> NDArray[np.float64]:
    """Return the sum over each trajectory's turns of a number times the score."""
    return np.add.reduceat(scores * numbers[:, None], turns.first, axis=0)
