"""Advantages of turns against all turns of a batch, whatever their tasks."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gem_train.returns._cells import (
    Cells,
    Numbers,
    cells_of,
    means,
    scaled,
    standardised,
    sums,
)
from gem_train.returns._checks import (
    Floats,
    Labels,
    at_their_places,
    counted_numbers,
    eps_of,
    labels,
)


def rebn(returns: ArrayLike, *, mask: ArrayLike | None = None) -> Floats:
    """Normalise returns over every turn of a batch (Return Batch Normalisation, arXiv 2510.01051).

    `returns` has shape (turns of all episodes,). The standard deviation is the population's, in
    two passes; a batch of returns that are equal up to rounding gives exact zeros.

    Aims at U, without the discount of the state distribution, up to scale. It is consistent and
    not unbiased: the mean and the deviation hold the episode's own turns, which turns the expected
    update away from U by O(1/episodes): a few percent in a batch of 64 in our tests, and in one of
    4 now and then most of the update. `rebn_leave_one_out` has no such bias.

    >>> rebn([0.0, 1.0]).tolist()
    [-1.0, 1.0]
    """
    return_array, counts = counted_numbers("returns", returns, mask)
    values = return_array[counts].astype(np.float64)
    whole_batch = cells_of(np.zeros(len(values), np.int64))
    found = standardised(values, whole_batch, eps=eps_of(return_array))
    return at_their_places(found, counts, return_array)


def rebn_leave_one_out(
    returns: ArrayLike,
    episodes: Labels,
    *,
    std: bool = True,
    mask: ArrayLike | None = None,
) -> Floats:
    """Normalise each episode's returns by all turns of the other episodes: ReBN without its bias.

    `returns` and `episodes`, which names the episode that each turn is of, have shape (turns of all
    episodes,), in any order. Each return is taken less the mean over the turns of the others and,
    with `std`, divided by their population deviation. Where the others are equal up to rounding,
    or there is none, a turn gets 0; which episode that happens to depends on the others alone, so
    that it changes the scale and not the direction.

    Aims at U, without the discount of the state distribution. Without `std` it is unbiased in any
    batch of two episodes or more; with it unbiased up to scale. Take 16 episodes or more with
    `std`: over a few the deviation is now and then next to nothing, and their advantages huge.
    O(turns) with a loop over episodes in Python.

    >>> rebn_leave_one_out([0.0, 1.0, 3.0], ["a", "b", "b"]).tolist()
    [-2.0, 0.0, 0.0]
    >>> rebn_leave_one_out([0.0, 1.0, 3.0], ["a", "b", "b"], std=False).tolist()
    [-2.0, 1.0, 3.0]
    """
    return_array, counts = counted_numbers("returns", returns, mask)
    names = labels("episodes", episodes, len(return_array))
    values = return_array[counts].astype(np.float64)
    episode_cells = cells_of(names[counts])
    eps = eps_of(return_array)
    found = _against_other_episodes(values, episode_cells, std=std, eps=eps)
    return at_their_places(found, counts, return_array)


class _Moments(NamedTuple):
    """How many numbers there are, their mean, and the sum of their squared distances from it."""

    number: float
    mean: float
    squares: float


def _against_other_episodes(values: Numbers, episodes: Cells, *, std: bool, eps: float) -> Numbers:
    if len(episodes.sizes) < 2:
        return np.zeros(len(values))
    others = _moments_of_others(values, episodes)
    other_means = np.array([each.mean for each in others])[episodes.of]
    less_mean: Numbers = values - other_means
    if not std:
        return less_mean
    stds = np.array([math.sqrt(each.squares / each.number) for each in others])
    return scaled(less_mean, stds[episodes.of], other_means, eps=eps)


def _moments_of_others(values: Numbers, episodes: Cells) -> list[_Moments]:
    """Return of each episode the moments of all turns but its own.

    They are put together from the episodes before and those after. To take an episode's own squares
    from those of all would lose the digits of the others where its returns are far from theirs.
    """
    episode_means = means(values, episodes)
    squares = sums((values - episode_means[episodes.of]) ** 2, episodes)
    columns = (episodes.sizes.tolist(), episode_means.tolist(), squares.tolist())
    own = [_Moments(*row) for row in zip(*columns, strict=True)]
    before = _accumulated(own)
    after = _accumulated(own[::-1])[::-1]
    return [_merged(*both) for both in zip(before, after, strict=True)]


def _accumulated(moments: list[_Moments]) -> list[_Moments]:
    """Return of each place the moments of all that come before it."""
    total = _Moments(0, 0.0, 0.0)
    found = []
    for each in moments:
        found.append(total)
        total = _merged(total, each)
    return found


def _merged(first: _Moments, second: _Moments) -> _Moments:
    """Return the moments of two sets of numbers together (Chan, Golub and LeVeque, 1979)."""
    if not first.number:
        return second
    if not second.number:
        return first
    number = first.number + second.number
    apart = second.mean - first.mean
    return _Moments(
        number=number,
        mean=first.mean + apart * second.number / number,
        squares=first.squares
        + second.squares
        + apart * apart * first.number * second.number / number,
    )
