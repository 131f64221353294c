"""Learn from episodes by a learner of rows, and read its critic. Needs no torch itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gem.episode import Episode
from gem.errors import BadArguments
from gem_baselines.learning._rows import rows_of, rows_to_read
from gem_baselines.learning_policy import Batch, Floats, LearntRow, Per

if TYPE_CHECKING:
    from gem_baselines.learning._learner import Learner

__all__ = ["learn_from", "learnt_rows", "values_of"]


def learn_from(batch: Batch, learner: Learner) -> Mapping[str, float]:
    """Improve a model by a batch, and return the figures of `Learner.update`.

    Raises BadArguments for a batch without a turn, or of shapes that do not fit.
    """
    rows = rows_of(batch)
    if not rows:
        raise BadArguments(
            "An update was asked for with a batch of no episodes that have a turn. Give one at "
            "least; if every first prompt is too long, raise max_length.",
            subject="batch",
        )
    return learner.update(rows)


def values_of(episodes: Sequence[Episode], learner: Learner, per: Per) -> list[Floats]:
    """Return what the critic expects at the token before each turn's answer, or own token."""
    rows = rows_to_read(episodes, per)
    # An episode may have several rows, or none.
    of_episode: list[list[Floats]] = [[np.zeros(0)] for _ in episodes]
    for row, row_values in zip(rows, learner.values(rows), strict=True):
        of_episode[row.episode].append(row_values)
    return [np.concatenate(parts) for parts in of_episode]


def learnt_rows(batch: Batch, episodes: Sequence[int], learner: Learner) -> list[LearntRow]:
    """Return the rows that an update by a batch learns from, of these episodes alone."""
    # Packed as in an update, all of the batch: what one episode leaves to the next is seen.
    rows = [row for row in rows_of(batch) if row.episode in set(episodes)]
    return [
        LearntRow(
            episode=row.episode,
            ids=row.ids.tolist(),
            places=row.places.tolist(),
            advantages=row.advantages,
            sampler=row.logprobs,
            learner=logprobs,
            entropies=entropies,
        )
        for row, (logprobs, entropies) in zip(rows, learner.reported(rows), strict=True)
    ]
