"""Split the variance of scores into the parts of two players and of the environment.

Plain functions on plain data; knows nothing about episodes. The scores of one task are a cube: by
the first player's seed, the second player's, and how often the same episode was graded. The model
is that of a two-way analysis of variance with random effects (Searle, Casella and McCulloch 1992,
chapter 4): a score is the task's mean, an effect of each player's seed, one of both together, and
what grading the same again changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem_eval import intervals

__all__ = ["ENVIRONMENT", "FIRST", "PARTS", "SECOND", "TOGETHER", "Cube", "Estimates", "components"]

FIRST = "first"
SECOND = "second"
TOGETHER = "together"
ENVIRONMENT = "environment"
PARTS = (FIRST, SECOND, TOGETHER, ENVIRONMENT)

Cube = Sequence[Sequence[Sequence[float]]]
"""The scores of a task: [first player's seed][second player's seed][grading]."""


class Estimates(NamedTuple):
    """The mean score, and the variance of one score on a task, by where it comes from.

    `same_tasks` is the sum of `variances`: by so much two scores on one task differ from draw to
    draw. `between_tasks` is how much the true scores of tasks differ, and `new_tasks` the sum of
    both: the variance of a score on a task that is drawn too. `by_task` has each part of each task.
    """

    mean: intervals.Estimate
    variances: Mapping[str, intervals.Estimate]
    between_tasks: intervals.Estimate
    same_tasks: intervals.Estimate
    new_tasks: intervals.Estimate
    by_task: Mapping[str, Sequence[float]]


def components(tasks: Sequence[Cube], absent: Collection[str] = ()) -> Estimates:
    """Estimate the parts of the variance from the cubes of tasks, all of one shape.

    Every part is unbiased, so that one whose truth is 0 may come out below it. Where a player has
    one seed, or everything was graded once, that part is 0, and so are those in `absent`, of which
    that is known. Intervals are a bootstrap over tasks.

    >>> estimates = components([[[[0.0]], [[1.0]]], [[[1.0]], [[1.0]]]])
    >>> estimates.variances["first"].value, estimates.variances["second"].value
    (0.25, 0.0)
    """
    cubes = [np.array(cube, dtype=np.float64) for cube in tasks]
    parts = [_of_task(cube) | dict.fromkeys(absent, 0.0) for cube in cubes]
    by_task = {name: [part[name] for part in parts] for name in PARTS}
    same = [sum(part.values()) for part in parts]
    between = _between([float(cube.mean()) for cube in cubes], parts, cubes[0].shape)
    new = [one + other for one, other in zip(same, between, strict=True)] if between else []
    return Estimates(
        intervals.mean([[float(cube.mean())] for cube in cubes]),
        {name: _mean(by_task[name]) for name in PARTS},
        _mean(between),
        _mean(same),
        _mean(new),
        by_task,
    )


def _mean(values: Sequence[float]) -> intervals.Estimate:
    return intervals.mean([[value] for value in values])


def _between(
    means: Sequence[float], parts: Sequence[Mapping[str, float]], shape: tuple[int, ...]
) -> list[float]:
    """Return what each task adds to the variance between tasks; nothing where there is one task.

    The means of tasks vary by what tasks differ in, and by what is left of each part in a mean of
    so many scores, which is taken off.
    """
    count = len(means)
    if count < 2:
        return []
    firsts, seconds, gradings = shape
    scores = {
        FIRST: firsts,
        SECOND: seconds,
        TOGETHER: firsts * seconds,
        ENVIRONMENT: firsts * seconds * gradings,
    }
    centre = sum(means) / count
    return [
        (mean - centre) ** 2 * count / (count - 1)
        - sum(part[name] / averaged for name, averaged in scores.items())
        for mean, part in zip(means, parts, strict=True)
    ]


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
