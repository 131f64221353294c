"""What was measured: the results of experiments by task and arm, as scores to compare.

A run counts in every estimate with its last evaluation, of episodes that no update played, with
drawn actions. Knows nothing about pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from benchmarks.baselines.arms import arms_of, read
from benchmarks.baselines.records import Results
from benchmarks.baselines.references import references
from numpy.typing import NDArray

from gem_baselines.statistics import Interval, bootstrap_interval, interquartile_mean

__all__ = ["Estimate", "Measured", "estimated", "measured"]

Floats = NDArray[np.float64]
RESAMPLES = 2000
FEWEST = 3  # runs for an interval
Line = Mapping[str, Any]


class Estimate(NamedTuple):
    """An estimate with its 95 % interval, and how many runs of each task it rests on at least."""

    value: float
    low: float
    high: float
    runs: int

    def __str__(self) -> str:
        return self.text(2)

    def text(self, places: int) -> str:
        """Return it as the page shows it; a spread needs some runs."""
        value, low, high = (
            # No sign before a zero.
            f"{round(number, places) + 0.0:.{places}f}"
            for number in (self.value, self.low, self.high)
        )
        return value if self.runs < FEWEST else f"{value} ({low} to {high})"


class Measured:
    """The results of one experiment."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.title: str = read(name)["title"]
        self.tasks: list[str] = list(read(name)["tasks"])
        arms = arms_of(name)
        self.names = list(dict.fromkeys(arm.name for arm in arms))
        self.num_arms = len(arms)
        self.lines = Results(name).of(arms)
        self._expected: dict[tuple[str, str], int] = {}
        for arm in arms:
            key = (arm.task, arm.name)
            self._expected[key] = self._expected.get(key, 0) + 1
        self._by_arm: dict[tuple[str, str], list[Line]] = {}
        for line in self.lines:
            if "final" in line:
                self._by_arm.setdefault((line["task"], line["arm"]), []).append(line)

    @property
    def is_complete(self) -> bool:
        """Whether every arm is done."""
        return len(self.lines) == self.num_arms

    def of(self, task: str, arm: str) -> list[Line]:
        """Return the runs of an arm on a task, by seed."""
        return sorted(self._by_arm.get((task, arm), []), key=lambda line: int(line["seed"]))

    def num_seeds(self, task: str, arm: str) -> int:
        """Return how many trainings an arm has, done or not."""
        return self._expected.get((task, arm), 0)

    def is_done(self, task: str, arm: str) -> bool:
        """Whether all seeds of an arm are done; one that stopped by itself is."""
        done = [line for line in self.lines if (line["task"], line["arm"]) == (task, arm)]
        return 0 < self.num_seeds(task, arm) == len(done)

    def figures(self, task: str, arm: str, figure: str, mode: str = "drawn") -> Floats:
        """Return a figure of the last evaluation, for each run of an arm."""
        return np.array([line["final"][mode][figure] for line in self.of(task, arm)], np.float64)

    def scores(self, task: str, arm: str) -> Floats:
        """Return how far each run came from random play, 0, to the solver's, 1.

        What counts is the discounted return: of two that always win, who wins sooner has more.
        """
        returns = self.figures(task, arm, "discounted_return")
        low = references()[task]["random"]["discounted_return"]
        high = references()[task]["solver"]["discounted_return"]
        return np.asarray((returns - low) / (high - low), np.float64)


@cache
def measured(name: str) -> Measured:
    """Return the results of an experiment."""
    return Measured(name)


def estimated(
    scores: list[Floats], estimate: Callable[..., Floats] = interquartile_mean
) -> Estimate | None:
    """Return an estimate of runs, an array for each task; None where a task has no run."""
    if not scores or not all(len(own) for own in scores):
        return None
    found: Interval = bootstrap_interval(estimate, scores, resamples=RESAMPLES)
    runs = min(map(len, scores))
    return Estimate(float(estimate(scores)), float(found.low), float(found.high), runs)
