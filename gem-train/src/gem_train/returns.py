"""Turn rewards into returns and advantages: pure numpy. Knows nothing about episodes or models.

One number a turn, unless a function says otherwise; computed in float64, and returned in the type
that came in where that is a floating one. Every normaliser takes a `mask`: what is False in it
(a truncated episode, padding) counts for nothing and gets 0. All raise BadArguments on shapes
that do not fit and on numbers that are not finite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gem.errors import BadArguments

__all__ = [
    "discounted_returns",
    "dr_grpo",
    "gae",
    "grpo",
    "rebn",
    "rloo",
    "signed_rewards",
    "to_tokens",
    "to_turns",
]

LEAST_STD = 1e-8
"""A spread below this is rounding: its numbers are taken as equal, and their advantages as 0."""

Floats = NDArray[Any]
Advantages = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def discounted_returns(rewards: ArrayLike, gamma: float) -> Floats:
    """Return what each turn of one episode earns from there on: `G[t] = r[t] + gamma * G[t + 1]`.

    `rewards` has shape (turns,). Nothing is added after the last turn, truncated or not.

    >>> discounted_returns([0.0, 0.0, 1.0], gamma=0.9).round(2).tolist()
    [0.81, 0.9, 1.0]
    """
    reward_array = _numbers("rewards", rewards)
    _check_share("gamma", gamma)
    return _in_dtype_of(_swept(reward_array.astype(np.float64), gamma), reward_array)


def gae(
    rewards: ArrayLike, values: ArrayLike, gamma: float, lam: float, *, last_value: float = 0.0
) -> Floats:
    """Return the generalised advantage of each turn of one episode (arXiv 1506.02438).

    `rewards` and `values`, what a critic expected before each turn, have shape (turns,).
    `last_value` is what it expects after the last one: 0 where the episode terminated. The
    targets of the critic are the advantages plus the values.

    >>> gae([0.0, 1.0], [0.5, 0.5], gamma=1.0, lam=1.0).tolist()
    [0.5, 0.5]
    """
    reward_array = _numbers("rewards", rewards)
    expected = _numbers("values", values)
    _check_share("gamma", gamma)
    _check_share("lam", lam)
    _check_length("values", expected, len(reward_array))
    following = np.append(expected[1:], last_value) if len(reward_array) else expected
    # What a turn earned beyond what was expected: the temporal-difference errors of the paper.
    surprises = reward_array.astype(np.float64) + gamma * following - expected
    return _in_dtype_of(_swept(surprises, gamma * lam), reward_array)


def rebn(returns: ArrayLike, *, mask: ArrayLike | None = None) -> Floats:
    """Normalise returns over every turn of a batch (Return Batch Normalisation, arXiv 2510.01051).

    `returns` has shape (turns of all episodes,). The standard deviation is the population's, in
    two passes; a batch of equal returns gives exact zeros.

    >>> rebn([0.0, 1.0]).tolist()
    [-1.0, 1.0]
    """
    return_array = _numbers("returns", returns)
    return _by_group(return_array, np.zeros(len(return_array), np.int64), mask, _standardised)


def grpo(returns: ArrayLike, groups: ArrayLike, *, mask: ArrayLike | None = None) -> Floats:
    """Normalise each group by its mean and population deviation (GRPO, arXiv 2402.03300).

    `returns` and `groups`, which names the group of each, have one entry an episode; `to_turns`
    then gives every turn its episode's advantage. With one entry a turn, discounted returns and
    the group of each turn, every turn gets credit of its own. A group of one, or of equals, gets 0.

    >>> grpo([0.0, 1.0, 5.0, 5.0], ["a", "a", "b", "b"]).tolist()
    [-1.0, 1.0, 0.0, 0.0]
    """
    return _by_group(_numbers("returns", returns), groups, mask, _standardised)


def dr_grpo(returns: ArrayLike, groups: ArrayLike, *, mask: ArrayLike | None = None) -> Floats:
    """Subtract each group's mean, and divide by nothing (Dr. GRPO, arXiv 2503.20783).

    >>> dr_grpo([0.0, 1.0], [7, 7]).tolist()
    [-0.5, 0.5]
    """
    return _by_group(_numbers("returns", returns), groups, mask, _centred)


def rloo(returns: ArrayLike, groups: ArrayLike, *, mask: ArrayLike | None = None) -> Floats:
    """Subtract the mean of the others of the group (leave one out, arXiv 2402.14740).

    >>> rloo([0.0, 1.0, 2.0], [0, 0, 0]).tolist()
    [-1.5, 0.0, 1.5]
    """
    return _by_group(_numbers("returns", returns), groups, mask, _against_others)


def signed_rewards(rewards: ArrayLike, *, succeeded: bool) -> Floats:
    """Lower the last reward of an episode that did not succeed by 1: failing costs, not nothing.

    The control that Return Batch Normalisation is compared with: rewards of +1 and -1.

    >>> signed_rewards([0.0, 0.0], succeeded=False).tolist()
    [0.0, -1.0]
    """
    reward_array = _numbers("rewards", rewards)
    changed = reward_array.astype(np.float64)
    if not succeeded:
        changed[-1:] -= 1.0
    return _in_dtype_of(changed, reward_array)


def to_turns(advantages: ArrayLike, turns: Sequence[int]) -> Floats:
    """Give every turn the advantage of its episode. `turns` counts those of each.

    >>> to_turns([0.5, -0.5], [1, 2]).tolist()
    [0.5, -0.5, -0.5]
    """
    advantage_array = _numbers("advantages", advantages)
    _check_length("turns", turns, len(advantage_array))
    return np.repeat(advantage_array, turns)


def to_tokens(advantages: ArrayLike, spans: Sequence[tuple[int, int]], length: int) -> Floats:
    """Give every token of a turn its advantage, and all other tokens 0: shape (length,).

    `spans` are the positions of each turn's tokens: the first, and the one after the last.

    >>> to_tokens([2.0, 3.0], [(1, 3), (4, 5)], 6).tolist()
    [0.0, 2.0, 2.0, 0.0, 3.0, 0.0]
    """
    advantage_array = _numbers("advantages", advantages)
    _check_length("spans", spans, len(advantage_array))
    tokens = np.zeros(length, advantage_array.dtype)
    end = 0
    # In order and apart: in spans that overlap a token would have two advantages.
    for advantage, (start, stop) in zip(advantage_array, spans, strict=True):
        if not end <= start <= stop <= length:
            raise _unfit(f"spans has {(start, stop)} after {end}, in {length} tokens")
        tokens[start:stop] = advantage
        end = stop
    return tokens


def _swept(additions: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    """Add to each what comes after it, times the factor, in place: from the last to the first."""
    total = 0.0
    for at in range(len(additions) - 1, -1, -1):
        total = additions[at] + factor * total
        additions[at] = total
    return additions


def _by_group(values: Floats, groups: ArrayLike, mask: ArrayLike | None, of: Advantages) -> Floats:
    """Compute the advantages of each group by itself; what the mask leaves out counts nowhere."""
    names = np.asarray(groups)
    _check_length("groups", names, len(values))
    counts = np.ones(len(values), bool) if mask is None else np.asarray(mask, bool)
    _check_length("mask", counts, len(values))
    advantages = np.zeros(len(values))
    counted = np.flatnonzero(counts)
    _, group = np.unique(names[counts], return_inverse=True)
    # The counted ones group after group, cut where the group changes: a sort for all groups, where
    # a search for the members of each would take the square of their number.
    in_order = np.argsort(group, kind="stable")
    for members in np.split(counted[in_order], np.flatnonzero(np.diff(group[in_order])) + 1):
        if len(members):
            advantages[members] = of(values[members].astype(np.float64))
    return _in_dtype_of(advantages, values)


def _centred(returns: NDArray[np.float64]) -> NDArray[np.float64]:
    if returns.min() == returns.max():  # whose mean may differ from them by rounding
        return np.zeros(len(returns))
    return returns - float(returns.mean())


def _standardised(returns: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = _centred(returns)
    # In a second pass over centred numbers: a difference of squares would lose their digits.
    std = float(np.sqrt(np.mean(centred**2)))
    return np.zeros(len(returns)) if std < LEAST_STD else centred / std


def _against_others(returns: NDArray[np.float64]) -> NDArray[np.float64]:
    # r - (sum - r) / (n - 1) is (r - mean) * n / (n - 1). Alone there are no others, and it is 0.
    number = len(returns)
    return _centred(returns) * (number / max(number - 1, 1))


def _numbers(name: str, values: ArrayLike) -> Floats:
    numbers = np.asarray(values)
    numbers = numbers if numbers.dtype.kind == "f" else numbers.astype(np.float64)
    if numbers.ndim != 1:
        raise _unfit(f"{name} has {numbers.ndim} dimensions, and must have one")
    if not np.isfinite(numbers).all():
        raise _unfit(f"{name} holds a number that is not finite")
    return numbers


def _check_share(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise _unfit(f"{name} is {value}, and must be from 0 to 1")


def _check_length(name: str, values: Any, wanted: int) -> None:
    if len(values) != wanted:
        raise _unfit(f"{name} has {len(values)} entries, and there are {wanted} to go with them")


def _in_dtype_of(values: NDArray[np.float64], original: Floats) -> Floats:
    return values.astype(original.dtype)


def _unfit(problem: str) -> BadArguments:
    return BadArguments(f"{problem}.", subject="returns", problems=[problem])
