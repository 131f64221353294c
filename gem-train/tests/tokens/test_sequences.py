"""Tokens of an episode that do not fit together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gem.errors import BadArguments
from gem.tokens import TokenSequence


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"mask": (0,)}, "differ in length"),
        ({"logprobs": (0.0,)}, "differ in length"),
        ({"spans": ((0, 1),)}, "not where its mask is 1"),
        ({"rewards": ()}, "not as many spans as rewards"),
        ({"spans": (), "mask": (0, 0)}, "no turn"),
        ({"spans": ((1, 2), (2, 2)), "rewards": (0.0, 0.0)}, "not as many spans as rewards"),
    ],
)
def test_what_does_not_fit_together_is_no_sequence(change: dict[str, Any], problem: str) -> None:
    whole = TokenSequence((5, 6), (0, 1), (0.0, -1.0), ((1, 2),), (1.0,), ("stop",))

    with pytest.raises(BadArguments, match=problem):
        replace(whole, **change)


def test_an_action_without_tokens_is_no_sequence() -> None:
    with pytest.raises(BadArguments, match="an action has no tokens"):
        TokenSequence((5,), (0,), None, ((1, 1),), (1.0,), (None,))
