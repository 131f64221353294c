"""The learning rate of all arms: for a group of tasks the best of a grid, by its results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["best_rates", "means_of"]


def means_of(lines: Sequence[Mapping[str, Any]], task: str) -> dict[float, float]:
    """Return the mean discounted return on a task for each rate, over all estimators and seeds.

    `lines` are results of arms called "ESTIMATOR, RATE". A training that stopped by itself earned
    nothing.
    """
    earned: dict[float, list[float]] = defaultdict(list)
    for line in lines:
        if line["task"] != task:
            continue
        rate = float(line["arm"].rpartition(", ")[2])
        figures = line["final"]["drawn"] if "final" in line else {"discounted_return": 0.0}
        earned[rate].append(figures["discounted_return"])
    return {rate: sum(values) / len(values) for rate, values in sorted(earned.items())}


def best_rates(lines: Sequence[Mapping[str, Any]], groups: Mapping[str, str]) -> dict[str, float]:
    """Return the best rate for each group of tasks; `groups` says which task decides for it.

    All estimators decide together and share what they decide: chosen apart, by few trainings each,
    rates would differ by chance and the estimators with them. Of equals it is the smaller rate.
    """
    best = {}
    for group, task in groups.items():
        means = means_of(lines, task)
        if means:
            best[group] = max(means, key=lambda rate: means[rate])
    return best
