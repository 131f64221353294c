"""Returns and advantages of one episode, of its own rewards alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gem_train.returns._checks import Floats, check_length, check_share, in_dtype_of, numbers


def discounted_returns(rewards: ArrayLike, gamma: float) -> Floats:
    """Return what each turn of one episode earns from there on: `G[t] = r[t] + gamma * G[t + 1]`.

    `rewards` has shape (turns,). Nothing is added after the last turn, truncated or not.

    As advantages (REINFORCE) these are unbiased for U, without the discount of the state
    distribution, at any number of episodes; and so they stay less any constant that is fixed
    beforehand. Their variance is large. The first of them, given to every turn by `to_turns`, is
    unbiased for J, with that discount.

    >>> discounted_returns([0.0, 0.0, 1.0], gamma=0.9).round(2).tolist()
    [0.81, 0.9, 1.0]
    """
    reward_array = numbers("rewards", rewards)
    check_share("gamma", gamma)
    return in_dtype_of(_swept(reward_array.astype(np.float64), gamma), reward_array)


def gae(
    rewards: ArrayLike, values: ArrayLike, gamma: float, lam: float, *, last_value: float = 0.0
) -> Floats:
    """Return the generalised advantage of each turn of one episode (arXiv 1506.02438).

    `rewards` and `values`, what a critic expected before each turn, have shape (turns,).
    `last_value` is what it expects after the last one: 0 where the episode terminated. The
    targets of the critic are the advantages plus the values.

    Aims at U, without the discount of the state distribution. With a critic that is exact it is
    unbiased at any `lam`; at `lam` = 1 with any critic that sees no more than the state. A critic
    that is wrong biases every other `lam` at any number of episodes: one that expects a constant
    has the rewards discounted by gamma * lam, and charges for ending. `rebn` of these advantages
    (whitening) adds a bias of O(1/episodes), as it does to returns; `rebn_leave_one_out` adds none.

    >>> gae([0.0, 1.0], [0.5, 0.5], gamma=1.0, lam=1.0).tolist()
    [0.5, 0.5]
    """
    reward_array = numbers("rewards", rewards)
    expected = numbers("values", values)
    check_share("gamma", gamma)
    check_share("lam", lam)
    check_length("values", expected, len(reward_array))
    last = numbers("last_value", [last_value])
    following = np.append(expected[1:], last) if len(reward_array) else expected
    # What a turn earned beyond what was expected: the temporal-difference errors of the paper.
    surprises = reward_array.astype(np.float64) + gamma * following - expected
    return in_dtype_of(_swept(surprises, gamma * lam), reward_array)


def signed_rewards(rewards: ArrayLike, *, succeeded: bool) -> Floats:
    """Lower the last reward of an episode that did not succeed by 1: failing costs, not nothing.

    The control that Return Batch Normalisation is compared with: rewards of +1 and -1. It changes
    what is optimised: the returns of these rewards are unbiased for their own U, which points
    elsewhere than that of the rewards as they were.

    >>> signed_rewards([0.0, 0.0], succeeded=False).tolist()
    [0.0, -1.0]
    """
    reward_array = numbers("rewards", rewards)
    changed = reward_array.astype(np.float64)
    if not succeeded:
        changed[-1:] -= 1.0
    return in_dtype_of(changed, reward_array)


def _swept(additions: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    """Add to each what comes after it, times the factor, in place: from the last to the first."""
    total = 0.0
    for at in range(len(additions) - 1, -1, -1):
        total = additions[at] + factor * total
        additions[at] = total
    return additions
