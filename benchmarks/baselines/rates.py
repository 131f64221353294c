"""The learning rate of each estimator: the best of the grid of `a_tuning`, by its results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["best_rates"]


def best_rates(
    lines: Sequence[Mapping[str, Any]], groups: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Return the best rates: by group of tasks, then by estimator.

    `lines` are results of arms called "ESTIMATOR, RATE"; `groups` says which task decides for a
    group. The highest mean discounted return of drawn actions decides; of equals it is the smaller
    rate. A training that stopped by itself loses to every other.
    """
    earned: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    for line in lines:
        estimator, _, rate = line["arm"].rpartition(", ")
        value = line["final"]["drawn"]["discounted_return"] if "final" in line else float("-inf")
        earned[line["task"], estimator, float(rate)].append(value)
    best: dict[str, dict[str, float]] = {}
    for group, task in groups.items():
        best[group] = {}
        for estimator in dict.fromkeys(key[1] for key in earned if key[0] == task):
            means = {
                rate: sum(values) / len(values)
                for (own_task, own_estimator, rate), values in sorted(earned.items())
                if (own_task, own_estimator) == (task, estimator)
            }
            best[group][estimator] = max(means, key=lambda rate: means[rate])
    return best
