"""Differences of means in units of their standard error, which a check takes beside their size."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gem_baselines.doctor.run import Series
from gem_baselines.learning_policy import Floats

__all__ = ["ALARM", "Change", "change_of", "ends_of", "mean_of"]

ALARM = 6.0
"""Standard errors from which a difference counts, where it is large enough to matter.

Of few values an error is itself uncertain, and chance goes this far now and then: a check asks for
a size as well.
"""


class Change(NamedTuple):
    """The mean of a figure at first and at last, and their distance in standard errors."""

    first: float
    last: float
    z: float


def mean_of(values: Floats) -> float:
    """Return the mean, 0.0 of no values."""
    return float(values.mean()) if len(values) else 0.0


def ends_of(values: Floats) -> tuple[Floats, Floats]:
    """Return the first and the last quarter of a series, of two values each at least."""
    size = max(2, len(values) // 4)
    return values[:size], values[-size:]


def change_of(series: Series) -> Change:
    """Compare the first quarter of a series with its last one.

    The standard error is that of two means of independent values, made from how each quarter
    scatters. A series of fewer than eight values has z = 0.
    """
    if len(series.values) < 8:
        mean = mean_of(series.values)
        return Change(mean, mean, 0.0)
    first, last = ends_of(series.values)
    error = math.sqrt((first.var(ddof=1) + last.var(ddof=1)) / len(first))
    apart = float(last.mean() - first.mean())
    # Values that do not scatter at all are taken to a millionth: rounding is no change.
    least = 1e-6 * max(1.0, float(np.abs(series.values).max()))
    return Change(float(first.mean()), float(last.mean()), apart / max(error, least))
