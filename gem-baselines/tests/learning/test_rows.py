from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest

from gem.episode import Episode
from gem.errors import BadArguments
from gem_baselines.learning import Row, rows_of
from gem_baselines.learning._rows import token_weights
from gem_baselines.learning._settings import Aggregation
from gem_baselines.learning_policy import Batch


def row(episode: int, num_tokens: int) -> Row:
    """Return a row with a prompt of one token, and one turn of some."""
    return Row(
        episode=episode,
        ids=np.arange(num_tokens + 1),
        places=np.arange(1, num_tokens + 1),
        logprobs=None,
        advantages=np.zeros(num_tokens),
        value_places=np.array([0]),
    )


ROWS = [row(0, 2), row(0, 4), row(7, 3)]
"""Two episodes, the first of which was rewritten on the way."""
WEIGHTS = {
    "sum": [1.0, 1.0, 1.0],
    "constant": [1 / 16, 1 / 16, 1 / 16],
    "token-mean": [1 / 9, 1 / 9, 1 / 9],
    "own-tokens": [1 / 12, 1 / 12, 1 / 6],
}


@pytest.mark.parametrize("aggregation", get_args(Aggregation))
def test_a_tokens_weight_follows_from_the_aggregation(aggregation: Aggregation) -> None:
    weights = token_weights(ROWS, aggregation, 8.0)

    for own, expected, of_row in zip(weights, WEIGHTS[aggregation], ROWS, strict=True):
        assert own.tolist() == pytest.approx([expected] * len(of_row.places))


def test_a_batch_by_token_has_an_advantage_a_token_and_values_before_each(
    episode: Callable[..., Episode],
) -> None:
    played = episode([0.0, 1.0], num_tokens=[2, 1])
    by_token = np.array([1.0, 2.0, 3.0])

    [own] = rows_of(Batch([played], [by_token], [by_token], per="token"))
    [of_turns] = rows_of(Batch([played], [np.array([1.0, 3.0])]))

    # The tokens are: shown, said, said, shown, said.
    assert own.places.tolist() == of_turns.places.tolist() == [1, 2, 4]
    assert own.advantages.tolist() == [1.0, 2.0, 3.0]
    assert own.value_places.tolist() == [0, 1, 3]
    assert of_turns.advantages.tolist() == [1.0, 1.0, 3.0]
    assert of_turns.value_places.tolist() == [0, 3]


def test_an_episode_without_a_turn_has_no_row(episode: Callable[..., Episode]) -> None:
    batch = Batch([episode([]), episode([1.0])], [np.zeros(0), np.ones(1)])

    assert [own.episode for own in rows_of(batch)] == [1]


def test_a_batch_by_token_of_other_lengths_is_refused(episode: Callable[..., Episode]) -> None:
    played = episode([1.0], num_tokens=[3])

    with pytest.raises(BadArguments, match="with 3 tokens of the policy was given with advantages"):
        rows_of(Batch([played], [np.ones(1)], per="token"))
