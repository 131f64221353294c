"""Phrase sensitivity: how much of a score depends on how a request is put."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gem.errors import BadArguments

__all__ = ["PhraseSensitivity", "phrase_sensitivity"]


class PhraseSensitivity(NamedTuple):
    """What the wordings of the same tasks do to a score.

    `mean` is over all tasks and wordings; `worst` and `best` are the means of the wordings with the
    lowest and the highest one. `sensitivity` is the mean over tasks of the standard deviation over
    wordings: 0 where no task depends on its wording, 0.5 where every task is won in half of them.
    """

    mean: float
    worst: float
    best: float
    sensitivity: float


def phrase_sensitivity(scores: Mapping[int, Sequence[float]]) -> PhraseSensitivity:
    """Return the figures of a policy from its scores by wording, each over the same tasks.

    Raises BadArguments where the wordings have no tasks, or different numbers of them.

    >>> phrase_sensitivity({0: [1.0, 1.0], 1: [1.0, 0.0]})
    PhraseSensitivity(mean=0.75, worst=0.5, best=1.0, sensitivity=0.25)
    """
    counts = {len(row) for row in scores.values()}
    if len(counts) != 1 or 0 in counts:
        raise BadArguments(
            f"Scores of {len(scores)} wordings were given, with {sorted(counts)} tasks each. Give "
            "the scores of every wording over the same tasks, one at least.",
            subject="phrase_sensitivity",
        )
    means = [statistics.fmean(row) for row in scores.values()]
    deviations = [statistics.pstdev(of_a_task) for of_a_task in zip(*scores.values(), strict=True)]
    return PhraseSensitivity(
        mean=statistics.fmean(means),
        worst=min(means),
        best=max(means),
        sensitivity=statistics.fmean(deviations),
    )
