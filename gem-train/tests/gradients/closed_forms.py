"""What the expected update of a biased estimator is, in closed form."""

from __future__ import annotations

import numpy as np

from .enumeration import Floats, Integers, Policy, Turns


def natural_mt_grpo(policy: Policy, size: int) -> Floats:
    """Return the expected update of MT-GRPO without deviations, later turns credited.

    With I_k for an episode that earns at index k before its last turn, p_k = E[I_k],
    b_k = E[r_k | I_k] and the outcome O, in groups of M:
    (1 - 1/M) grad E[O] + sum_k c_k (grad E[r_k I_k] - b_k grad p_k),
    where c_k = 1 - (1 - (1 - p_k)^M) / (M p_k). For one start; several would be averaged.
    """
    turns = policy.turns
    outcomes = turns.rewards[turns.is_last]
    found = (1.0 - 1.0 / size) * policy.gradient_of_expected(outcomes)
    for index in range(int(turns.lengths.max()) - 1):
        goes_on = (turns.lengths > index + 1).astype(np.float64)
        earned = _rewards_at(turns, index) * goes_on
        chance = policy.expected(goes_on)
        mean = policy.expected(earned) / chance
        kept = 1.0 - (1.0 - (1.0 - chance) ** size) / (size * chance)
        found = found + kept * (
            policy.gradient_of_expected(earned) - mean * policy.gradient_of_expected(goes_on)
        )
    return found


def bias_of_rebn(policy: Policy) -> Floats:
    """Return c of std(G) E[update] = U (1 + O(1/N)) - c / N + O(1/N^2) in batches of N episodes.

    c = grad(mu) + E[h e] / (2 s^2 tau), with tau the expected number of turns, mu the mean and s^2
    the variance of a turn's return, h = sum_t S_t (G_t - mu), e = sum_t (G_t - mu)^2 - s^2 T.
    """
    turns = policy.turns
    lengths = turns.lengths.astype(np.float64)
    totals = turns.totals(turns.returns)
    expected_turns = policy.expected(lengths)
    mean = policy.expected(totals) / expected_turns
    gradient_of_mean = (
        policy.gradient_of_expected(totals) - mean * policy.gradient_of_expected(lengths)
    ) / expected_turns
    squares = turns.totals((turns.returns - mean) ** 2)
    variance = policy.expected(squares) / expected_turns
    spread = squares - variance * lengths
    pulled = policy.update((turns.returns - mean) * spread[turns.owner])
    return gradient_of_mean + pulled / (2.0 * variance * expected_turns)


def deviation_of_turns(policy: Policy) -> float:
    """Return the standard deviation of a turn's return, over all turns that are played."""
    turns = policy.turns
    expected_turns = policy.expected(turns.lengths.astype(np.float64))
    mean = policy.expected(turns.totals(turns.returns)) / expected_turns
    squares = turns.totals((turns.returns - mean) ** 2)
    return float(np.sqrt(policy.expected(squares) / expected_turns))


def _rewards_at(turns: Turns, index: int) -> Floats:
    """Return what each trajectory earns at an index, 0 where it has ended."""
    places: Integers = turns.first + np.minimum(index, turns.lengths - 1)
    found: Floats = np.where(turns.lengths > index, turns.rewards[places], 0.0)
    return found
