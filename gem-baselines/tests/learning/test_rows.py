from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from gem_baselines.learning import Row
from gem_baselines.learning._rows import token_weights
from gem_baselines.learning._settings import Aggregation


def row(episode: int, num_tokens: int) -> Row:
    """Return a row with a prompt of one token, and one turn of some."""
    return Row(
        episode=episode,
        ids=np.arange(num_tokens + 1),
        places=np.arange(1, num_tokens + 1),
        logprobs=None,
        advantages=np.zeros(num_tokens),
        prompt_ends=np.array([0]),
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
