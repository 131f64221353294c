"""Advantages of episodes against others of their group: tries of one task from one start.

One entry an episode; `to_turns` then gives every turn its episode's advantage.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gem_train.returns._cells import Cells, Numbers, cells_of, centred, standardised
from gem_train.returns._checks import (
    Floats,
    Labels,
    at_their_places,
    counted_numbers,
    eps_of,
    labels,
)


def grpo(returns: ArrayLike, groups: Labels, *, mask: ArrayLike | None = None) -> Floats:
    """Normalise each group by its mean and population deviation (GRPO, arXiv 2402.03300).

    `returns` and `groups`, which names the group of each by anything that can be hashed, have one
    entry an episode; `to_turns` then gives every turn its episode's advantage. A group of one, or
    of what is equal up to rounding, gets 0.

    Of sums of rewards it aims at J1, the undiscounted objective, and is biased at any number of
    groups: dividing by the group's deviation weighs starts by how far apart their tries are, and
    the deviation holds the episode itself. With one start only, the bias is O(1/group size); with
    several it stays. Rewards of two values (0 and 1) on a single start hide it.

    With one entry a turn, discounted returns and the group of each turn, every turn gets credit of
    its own: `rebn` within each group. That aims at U, and is biased as the above is.

    >>> grpo([0.0, 1.0, 5.0, 5.0], ["a", "a", "b", "b"]).tolist()
    [-1.0, 1.0, 0.0, 0.0]
    """
    return_array, counts = counted_numbers("returns", returns, mask)
    standardise = partial(standardised, eps=eps_of(return_array))
    return _by_group(return_array, groups, counts, standardise)


def dr_grpo(returns: ArrayLike, groups: Labels, *, mask: ArrayLike | None = None) -> Floats:
    """Subtract each group's mean, and divide by nothing (Dr. GRPO, arXiv 2503.20783).

    One entry an episode, as for `grpo`. Of sums of rewards it is exactly 1 - 1/M of the gradient
    of J1, the undiscounted objective, in groups of M: unbiased up to scale, which is `rloo`'s
    times that number. Groups of different sizes so get different weights.

    >>> dr_grpo([0.0, 1.0], [7, 7]).tolist()
    [-0.5, 0.5]
    """
    return_array, counts = counted_numbers("returns", returns, mask)
    return _by_group(return_array, groups, counts, centred)


def rloo(returns: ArrayLike, groups: Labels, *, mask: ArrayLike | None = None) -> Floats:
    """Subtract the mean of the others of the group (leave one out, arXiv 2402.14740).

    One entry an episode, as for `grpo`; alone in its group one gets 0. Of sums of rewards it is
    unbiased for J1, the undiscounted objective, in groups of two or more; of discounted returns of
    whole episodes for J, with the discount of the state distribution.

    With one entry a turn it leaves one turn out, not one episode, and is biased by O(1/group size):
    what is subtracted holds the episode's other turns. `mt_rloo` is what turns need.

    >>> rloo([0.0, 1.0, 2.0], [0, 0, 0]).tolist()
    [-1.5, 0.0, 1.5]
    """
    return_array, counts = counted_numbers("returns", returns, mask)
    return _by_group(return_array, groups, counts, against_others)


def against_others(values: Numbers, cells: Cells) -> Numbers:
    """Return each number less the mean of the others of its cell, and 0 where there are none."""
    sizes = cells.sizes[cells.of]
    # r - (sum - r) / (n - 1) is (r - mean) * n / (n - 1); alone the mean is the number itself.
    return centred(values, cells) * (sizes / np.maximum(sizes - 1, 1))


def _by_group(
    return_array: Floats,
    groups: Labels,
    counts: NDArray[np.bool_],
    advantages_of: Callable[[Numbers, Cells], Numbers],
) -> Floats:
    """Compute the advantages of each group by itself, of the numbers that count."""
    names = labels("groups", groups, len(return_array))
    values = return_array[counts].astype(np.float64)
    found = advantages_of(values, cells_of(names[counts]))
    return at_their_places(found, counts, return_array)
