"""Estimates from the scores of several runs on several tasks.

Each takes scores of shape (..., runs), an array for each task, and returns an estimate for each
entry of the leading axes: so a bootstrap computes all of its resamples at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gem.errors import BadArguments

__all__ = [
    "Scores",
    "checked",
    "interquartile_mean",
    "performance_profile",
    "probability_of_improvement",
]

Floats = NDArray[np.float64]
Scores = Sequence[ArrayLike]
"""An array for each task: its last axis has a score for each run."""


def interquartile_mean(scores: Scores) -> Floats:
    """Return the mean of the middle half of all scores, over runs and tasks together.

    A quarter of them, rounded down, is left out at either end. With as many runs of each task, all
    tasks count alike. Raises BadArguments for scores that are missing or not finite.

    >>> float(interquartile_mean([[0.0, 1.0, 2.0, 100.0]]))
    1.5
    """
    every = np.sort(np.concatenate(checked(scores), axis=-1), axis=-1)
    number = every.shape[-1]
    left_out = number // 4
    middle = every[..., left_out : number - left_out]
    return np.asarray(middle.mean(axis=-1), np.float64)


def probability_of_improvement(scores: Scores, others: Scores) -> Floats:
    """Return how probable it is that a run beats a run of the others on a task drawn at random.

    Equal scores count a half: for each task it is Mann and Whitney's U, divided by the pairs.
    Raises BadArguments for scores that are missing or not finite, and for other tasks.

    >>> float(probability_of_improvement([[1.0, 2.0]], [[0.0, 1.0]]))
    0.875
    """
    if len(scores) != len(others):
        raise BadArguments(
            f"The scores of {len(scores)} tasks were to be compared with those of {len(others)}. "
            "Give an array for each task, for the same tasks.",
            subject="scores",
        )
    by_task = []
    for own, other in zip(checked(scores), checked(others), strict=True):
        difference = own[..., :, None] - other[..., None, :]
        by_task.append((0.5 * (np.sign(difference) + 1)).mean(axis=(-2, -1)))
    return np.asarray(np.mean(by_task, axis=0), np.float64)


def performance_profile(scores: Scores, thresholds: ArrayLike) -> Floats:
    """Return the share of runs, over all tasks, that score more than each threshold.

    `thresholds` is a number or a row of them; the shape is (..., thresholds). Raises BadArguments
    for scores that are missing or not finite, and for thresholds of another shape.

    >>> performance_profile([[0.0, 1.0], [0.5, 1.0]], [0.0, 0.5, 1.0]).tolist()
    [0.75, 0.5, 0.0]
    """
    row = np.atleast_1d(np.asarray(thresholds, np.float64))
    if row.ndim != 1:
        raise BadArguments(
            f"A performance profile at thresholds of {row.ndim} dimensions was asked for. Give a "
            "number, or a row of numbers.",
            subject="thresholds",
        )
    every = np.concatenate(checked(scores), axis=-1)
    above = every[..., None, :] > row[:, None]
    return np.asarray(above.mean(axis=-1), np.float64)


def checked(scores: Scores) -> list[Floats]:
    """Return the scores as arrays of floats. Raises BadArguments where one is missing."""
    arrays = [np.atleast_1d(np.asarray(own, np.float64)) for own in scores]
    problem = ""
    if not arrays or not all(own.shape[-1] for own in arrays):
        problem = "no score"
    elif not all(np.isfinite(own).all() for own in arrays):
        problem = "a score that is not finite"
    if problem:
        raise BadArguments(
            f"Scores of {len(arrays)} tasks were given, and there is {problem} for one of them. "
            "Give at least a task, and at least a finite score for each.",
            subject="scores",
        )
    return arrays
