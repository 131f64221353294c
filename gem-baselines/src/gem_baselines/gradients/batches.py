"""Batches of trajectories: every one that there may be, or drawn ones, and how likely each is.

A batch holds independent episodes. A group holds episodes of one start, as the repeats of a seed
have; what chance does after the start it does to each of them anew.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gem_baselines.gradients.policy import SoftmaxPolicy
from gem_baselines.gradients.trajectories import Integers, Trajectories
from gem_baselines.learning_policy import Floats

__all__ = ["Batches", "drawn_batches", "every_batch", "number_of_batches"]


class Batches(NamedTuple):
    """Batches of one size, drawn or all that there are.

    `members` are trajectories, of shape (batches, size). `ways` counts the orders that each batch
    has, shape (batches,); it is None where the batches were drawn, which come as often as they
    are likely. `are_groups` where all members of a batch share their start.
    """

    members: Integers
    ways: Floats | None
    are_groups: bool

    @property
    def size(self) -> int:
        """How many episodes a batch has."""
        return int(self.members.shape[1])

    def __len__(self) -> int:
        return len(self.members)

    def parts(self, most: int) -> Iterator[slice]:
        """Yield slices of so many batches at most."""
        for begin in range(0, len(self), most):
            yield slice(begin, begin + most)

    def chances(self, policy: SoftmaxPolicy) -> Floats:
        """Return how likely each batch is under a policy, shape (batches,); they sum to 1."""
        if self.ways is None:
            return np.full(len(self), 1.0 / len(self))
        found: Floats = self.ways * np.prod(policy.chances[self.members], axis=1)
        if not self.are_groups:
            return found
        # The start of a group is drawn once, and is in the chance of each of its members.
        of_starts = chances_of_starts(policy)
        drawn = of_starts[policy.trajectories.starts[self.members[:, 0]]]
        grouped: Floats = found / drawn ** (self.size - 1)
        return grouped


def chances_of_starts(policy: SoftmaxPolicy) -> Floats:
    """Return how likely an episode is to begin in each start, shape (starts,)."""
    return np.bincount(policy.trajectories.starts, policy.chances).astype(np.float64)


def number_of_batches(trajectories: Trajectories, size: int, *, are_groups: bool) -> int:
    """Return how many batches there are, in one order of the many that each may have."""
    return sum(math.comb(len(kinds) + size - 1, size) for kinds in _kinds(trajectories, are_groups))


def every_batch(trajectories: Trajectories, size: int, *, are_groups: bool) -> Batches:
    """Return every batch or group of so many trajectories."""
    members = np.concatenate(
        [
            np.array(list(itertools.combinations_with_replacement(kinds.tolist(), size)))
            for kinds in _kinds(trajectories, are_groups)
        ]
    )
    ways = np.full(len(members), float(math.factorial(size)))
    # Equal trajectories stand together: a run of k of them divides the orders by k!, which is
    # done by a factor 1/k at the k-th.
    run = np.ones(len(members))
    for at in range(1, size):
        run = np.where(members[:, at] == members[:, at - 1], run + 1.0, 1.0)
        ways /= run
    return Batches(members, ways, are_groups)


def drawn_batches(
    policy: SoftmaxPolicy, size: int, *, number: int, are_groups: bool, seed: int
) -> Batches:
    """Draw so many batches or groups under a policy. The seed alone decides which."""
    rng = np.random.default_rng(seed)
    until = np.cumsum(policy.chances)
    shape = (number, size)
    # Under a share of the whole, or of the part that a start has: those of one stand together.
    if are_groups:
        of_starts = chances_of_starts(policy)
        starts = rng.choice(len(of_starts), size=(number, 1), p=of_starts / of_starts.sum())
        begin = (np.cumsum(of_starts) - of_starts)[starts]
        shares = begin + rng.random(shape) * of_starts[starts]
    else:
        shares = rng.random(shape) * until[-1]
    members = np.searchsorted(until, shares, side="right")
    return Batches(np.minimum(members, len(until) - 1), None, are_groups)


def _kinds(trajectories: Trajectories, are_groups: bool) -> list[Integers]:
    """Return the trajectories that may be in one batch with each other."""
    every = np.arange(len(trajectories.all))
    if not are_groups:
        return [every]
    return [every[trajectories.starts == start] for start in np.unique(trajectories.starts)]
