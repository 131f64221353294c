"""Pack episodes into rows of tokens for one pass of a learner. Numpy only; knows no model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem.errors import BadArguments
from gem.tokens import TokenSequence, Trajectory
from gem_baselines.learning._settings import Aggregation
from gem_baselines.learning_policy import Batch, Floats

__all__ = ["Row", "rows_of", "token_weights"]

Places = NDArray[np.int64]


class Row(NamedTuple):
    """Tokens that extend one another, with the turns that they hold: an episode, as a rule.

    `ids` has shape (tokens,). `places` are where the model's own tokens stand in it, in order, and
    `logprobs` and `advantages` (of the turn that a token is of) have an entry for each
    of those; `logprobs` is None where the sampler gave none. `prompt_ends` is where the last token
    of each turn's prompt stands, and `value_targets`, where there are any, what a critic should
    have expected there. `episode` numbers the episodes of a batch.
    """

    episode: int
    ids: Places
    places: Places
    logprobs: Floats | None
    advantages: Floats
    prompt_ends: Places
    value_targets: Floats | None = None


def rows_of(batch: Batch) -> list[Row]:
    """Pack a batch: one row for each episode, or more where its history was rewritten.

    A causal model computes for the tokens of one row what it would for a row a turn, as each turn's
    prompt begins with the one before it. Raises BadArguments where episodes have no tokens, or the
    shapes of the batch do not fit.
    """
    targets = batch.value_targets
    _check_lengths("advantages", batch, batch.advantages)
    if targets is not None:
        _check_lengths("value_targets", batch, targets)
    rows = []
    for number, episode in enumerate(batch.episodes):
        num_turns = 0
        for sequence in Trajectory.of(episode).sequences:
            turns = slice(num_turns, num_turns + len(sequence.spans))
            num_turns = turns.stop
            rows.append(
                _row(
                    number,
                    sequence,
                    np.asarray(batch.advantages[number], np.float64)[turns],
                    None if targets is None else np.asarray(targets[number], np.float64)[turns],
                )
            )
    return rows


def _check_lengths(name: str, batch: Batch, arrays: Sequence[Floats]) -> None:
    expected = [len(episode.turns) for episode in batch.episodes]
    given = [len(array) for array in arrays]
    if given != expected:
        raise BadArguments(
            f"A batch of {len(expected)} episodes with {sum(expected)} turns was given with {name} "
            f"for {len(given)} episodes and {sum(given)} turns. Give an array for each episode, "
            "with an entry a turn.",
            subject=name,
        )


def _row(
    episode: int, sequence: TokenSequence, advantages: Floats, value_targets: Floats | None
) -> Row:
    places = np.flatnonzero(sequence.mask)
    lengths = [stop - start for start, stop in sequence.spans]
    logprobs = sequence.logprobs
    return Row(
        episode=episode,
        ids=np.asarray(sequence.ids, np.int64),
        places=places,
        logprobs=None if logprobs is None else np.asarray(logprobs, np.float64)[places],
        advantages=np.repeat(advantages, lengths),
        prompt_ends=np.asarray([start - 1 for start, _ in sequence.spans], np.int64),
        value_targets=value_targets,
    )


def token_weights(rows: Sequence[Row], aggregation: Aggregation, constant: float) -> list[Floats]:
    """Return what each of the model's tokens counts in the loss of a minibatch, row by row.

    The loss is the weighted sum of the tokens' losses, so rows may be computed in any parts.
    """
    tokens_of: dict[int, int] = {}  # of each episode, all its rows together
    for row in rows:
        tokens_of[row.episode] = tokens_of.get(row.episode, 0) + len(row.places)
    num_episodes = len(tokens_of)
    num_tokens = sum(tokens_of.values())
    weights = []
    for row in rows:
        if aggregation == "sum":
            weight = 1.0
        elif aggregation == "constant":
            weight = 1.0 / (constant * num_episodes)
        elif aggregation == "token-mean":
            weight = 1.0 / num_tokens
        else:
            weight = 1.0 / (tokens_of[row.episode] * num_episodes)
        weights.append(np.full(len(row.places), weight))
    return weights
