"""Give turns what their episode has, and tokens what their turn has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from gem_train.returns._checks import Floats, check_length, numbers, unfit


def to_turns(advantages: ArrayLike, turns: Sequence[int]) -> Floats:
    """Give every turn the advantage of its episode. `turns` counts those of each, from 0 on.

    >>> to_turns([0.5, -0.5], [1, 2]).tolist()
    [0.5, -0.5, -0.5]
    """
    advantage_array = numbers("advantages", advantages)
    counts = numbers("turns", turns)
    check_length("turns", counts, len(advantage_array))
    is_unfit = (counts < 0) | (counts % 1 != 0)
    if is_unfit.any():
        raise unfit(f"turns has {counts[is_unfit][0]}, and must have whole numbers from 0 on")
    return np.repeat(advantage_array, counts.astype(np.int64))


def to_tokens(advantages: ArrayLike, spans: Sequence[tuple[int, int]], length: int) -> Floats:
    """Give every token of a turn its advantage, and all other tokens 0: shape (length,).

    `spans` are the positions of each turn's tokens: the first, and the one after the last.

    >>> to_tokens([2.0, 3.0], [(1, 3), (4, 5)], 6).tolist()
    [0.0, 2.0, 2.0, 0.0, 3.0, 0.0]
    """
    advantage_array = numbers("advantages", advantages)
    check_length("spans", spans, len(advantage_array))
    tokens = np.zeros(length, advantage_array.dtype)
    end = 0
    # In order and apart: in spans that overlap a token would have two advantages.
    for advantage, (start, stop) in zip(advantage_array, spans, strict=True):
        if not end <= start <= stop <= length:
            raise unfit(f"spans has {(start, stop)} after {end}, in {length} tokens")
        tokens[start:stop] = advantage
        end = stop
    return tokens
