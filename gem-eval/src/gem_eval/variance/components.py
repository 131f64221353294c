"""Split the variance of scores into the parts of two players and of the environment.

Plain functions on plain data; knows nothing about episodes. The scores of one task are a cube: by
the first player's seed, the second player's, and how often the same episode was graded. The model
is that of a two-way analysis of variance with random effects (Searle, Casella and McCulloch 1992,
chapter 4): a score is the task's mean, an effect of each player's seed, one of both together, and
what grading the same again changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem_eval import intervals

__all__ = ["ENVIRONMENT", "FIRST", "SECOND", "TOGETHER", "Estimates", "components"]

FIRST = "first"
SECOND = "second"
TOGETHER = "together"
ENVIRONMENT = "environment"

Cube = Sequence[Sequence[Sequence[float]]]
"""The scores of a task: [first player's seed][second player's seed][grading]."""


class Estimates(NamedTuple):
    """The mean score, and the variance of one score on a task, by where it comes from."""

    mean: intervals.Estimate
    variances: Mapping[str, intervals.Estimate]


def components(tasks: Sequence[Cube]) -> Estimates:
    """Estimate the parts of the variance from the cubes of tasks, all of one shape.

    Every part is unbiased, so that one whose truth is 0 may come out below it. Where a player has
    one seed, or everything was graded once, that part is 0. Intervals are a bootstrap over tasks.

    >>> estimates = components([[[[0.0]], [[1.0]]], [[[1.0]], [[1.0]]]])
    >>> estimates.variances["first"].value, estimates.variances["second"].value
    (0.25, 0.0)
    """
    cubes = [np.array(cube, dtype=np.float64) for cube in tasks]
    parts = [_of_task(cube) for cube in cubes]
    return Estimates(
        intervals.mean([[float(cube.mean())] for cube in cubes]),
        {
            name: intervals.mean([[part[name]] for part in parts])
            for name in (FIRST, SECOND, TOGETHER, ENVIRONMENT)
        },
    )


def _of_task(cube: NDArray[np.float64]) -> dict[str, float]:
    firsts, seconds, gradings = cube.shape
    cells = cube.mean(axis=2)
    graded = float(cube.var(axis=2, ddof=1).mean()) if gradings > 1 else 0.0
    # What is left of it in the mean of a cell's gradings, and so in every mean square below.
    left = graded / gradings
    if firsts > 1 and seconds > 1:
        rest = cells - cells.mean(axis=1, keepdims=True) - cells.mean(axis=0, keepdims=True)
        both = float(((rest + cells.mean()) ** 2).sum() / ((firsts - 1) * (seconds - 1)))
        # The mean of a row varies by the effect of its seed, and by 1/seconds of what is in a cell.
        first = float(cells.mean(axis=1).var(ddof=1)) - both / seconds
        second = float(cells.mean(axis=0).var(ddof=1)) - both / firsts
        return {FIRST: first, SECOND: second, TOGETHER: both - left, ENVIRONMENT: graded}
    alone = float(cells.var(ddof=1)) - left if cells.size > 1 else 0.0
    return {
        FIRST: alone if firsts > 1 else 0.0,
        SECOND: alone if seconds > 1 else 0.0,
        TOGETHER: 0.0,
        ENVIRONMENT: graded,
    }
