"""Pack episodes into rows of tokens for one pass of a learner. Numpy only; knows no model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem.episode import Episode
from gem.errors import BadArguments
from gem.tokens import TokenSequence, Trajectory
from gem_baselines.learning._settings import Aggregation
from gem_baselines.learning_policy import Batch, Floats, Per

__all__ = ["Row", "rows_of", "rows_to_read", "token_weights"]

Places = NDArray[np.int64]


class Row(NamedTuple):
    """Tokens that extend one another, with the turns that they hold: an episode, as a rule.

    `ids` has shape (tokens,). `places` are where the model's own tokens stand in it, in order, and
    `logprobs` and `advantages` (its own, or those of its turn) have an entry for each of those;
    `logprobs` is None where the sampler gave none. `value_places` are where a critic is read: at
    the last token before each turn's answer, or before each of the model's own tokens.
    `value_targets`, where there are any, is what it should have expected there. `episode` numbers
    the episodes of a batch.
    """

    episode: int
    ids: Places
    places: Places
    logprobs: Floats | None
    advantages: Floats
    value_places: Places
    value_targets: Floats | None = None


def rows_of(batch: Batch) -> list[Row]:
    """Pack a batch: one row for each episode, or more where its history was rewritten.

    A causal model computes for the tokens of one row what it would for a row a turn, as each turn's
    prompt begins with the one before it. An episode without a turn, whose first prompt was too
    long, has no row. Raises BadArguments where episodes have no tokens, or the shapes of the batch
    do not fit.
    """
    targets = batch.value_targets
    _check_lengths("advantages", batch, batch.advantages)
    if targets is not None:
        _check_lengths("value_targets", batch, targets)
    rows = []
    for number, episode in enumerate(batch.episodes):
        if not episode.turns:
            continue
        begin = 0  # of the sequence's entries among those of the episode
        for sequence in Trajectory.of(episode).sequences:
            end = begin + (len(sequence.spans) if batch.per == "turn" else sum(sequence.mask))
            advantages = np.asarray(batch.advantages[number], np.float64)[begin:end]
            row_targets = None
            if targets is not None:
                row_targets = np.asarray(targets[number], np.float64)[begin:end]
            rows.append(_row(number, sequence, advantages, row_targets, batch.per))
            begin = end
    return rows


def rows_to_read(episodes: Sequence[Episode], per: Per) -> list[Row]:
    """Pack episodes of which only values are asked: every advantage is 0."""
    nothing = [np.zeros(_num_entries(episode, per)) for episode in episodes]
    return rows_of(Batch(episodes, nothing, per=per))


def _num_entries(episode: Episode, per: Per) -> int:
    if per == "turn":
        return len(episode.turns)
    return sum(sum(turn.mask or ()) for turn in episode.turns)


def _check_lengths(name: str, batch: Batch, arrays: Sequence[Floats]) -> None:
    expected = [_num_entries(episode, batch.per) for episode in batch.episodes]
    given = [len(array) for array in arrays]
    if given != expected:
        entries = "turns" if batch.per == "turn" else "tokens of the policy"
        raise BadArguments(
            f"A batch of {len(expected)} episodes with {sum(expected)} {entries} was given with "
            f"{name} for {len(given)} episodes and {sum(given)} {entries}. Give an array for each "
            f"episode, with an entry a {batch.per}.",
            subject=name,
        )


def _row(
    episode: int,
    sequence: TokenSequence,
    advantages: Floats,
    value_targets: Floats | None,
    per: Per,
) -> Row:
    places = np.flatnonzero(sequence.mask)
    lengths = [stop - start for start, stop in sequence.spans]
    starts = np.asarray([start for start, _ in sequence.spans], np.int64)
    logprobs = sequence.logprobs
    return Row(
        episode=episode,
        ids=np.asarray(sequence.ids, np.int64),
        places=places,
        logprobs=None if logprobs is None else np.asarray(logprobs, np.float64)[places],
        advantages=np.repeat(advantages, lengths) if per == "turn" else advantages,
        value_places=(starts if per == "turn" else places) - 1,
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
