"""The tokens of a turn as its record has them: ids, mask, logprobs, and columns of a trainer.

A trainer that writes the log may add to the `info` of a turn: `learner_logprobs` and `entropies`,
one number a token, and `critic_value`, a number. Knows nothing about pages or texts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

__all__ = [
    "CRITIC",
    "ENTROPY",
    "LEARNER",
    "Token",
    "TokenTurn",
    "generated_count",
    "is_number",
    "token_turn",
]

LEARNER = "learner_logprobs"
ENTROPY = "entropies"
CRITIC = "critic_value"

_LARGEST_ID = 1 << 32
_LARGEST_VALUE = 1e39  # beyond any number that a model computes with 32 bits


class Token(NamedTuple):
    """A token. What is not on record is None, and so is all but the id where nobody said it.

    `place` counts from 1 in its turn.
    """

    place: int
    id: int
    is_generated: bool
    logprob: float | None = None
    learner: float | None = None
    entropy: float | None = None

    @property
    def difference(self) -> float | None:
        """The learner's logprob less the sampler's."""
        if self.learner is None or self.logprob is None:
            return None
        return self.learner - self.logprob


class TokenTurn(NamedTuple):
    """The tokens of a turn, from 1. `problem` says why there are none, `notes` what is odd."""

    number: int
    reward: float
    tokens: tuple[Token, ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()
    left_out: int = 0
    is_rewritten: bool = False
    seat: int = 0

    @property
    def generated_count(self) -> int:
        """How many the model said, of those that are here."""
        return sum(token.is_generated for token in self.tokens)


def token_turn(plain: Any, number: int) -> TokenTurn:
    """Return the tokens of a turn as it stands in a log, whatever stands there."""
    if not isinstance(plain, Mapping):
        return TokenTurn(number, 0.0, problem="This turn cannot be read.")
    reward = plain.get("reward")
    seat = plain.get("seat", 0)
    turn = TokenTurn(
        number,
        float(reward) if is_number(reward) else 0.0,
        is_rewritten=plain.get("new_sequence") is True,
        seat=seat if type(seat) is int else 0,
    )
    ids = plain.get("token_ids")
    if ids is None:
        return turn._replace(problem="This turn has no token ids on record.")
    if not (isinstance(ids, list) and all(map(_is_id, ids))):
        return turn._replace(problem="The token ids of this turn are no list of numbers.")
    mask = _mask(plain, len(ids))
    if mask is None:
        return turn._replace(problem="The mask of this turn does not go with its token ids.")
    info = plain.get("info")
    columns: list[Sequence[Any]] = []
    notes = []
    for source, name in ((plain, "logprobs"), (info, LEARNER), (info, ENTROPY)):
        column = source.get(name) if isinstance(source, Mapping) else None
        fits = isinstance(column, list) and len(column) == len(ids)
        if column is not None and not fits:
            notes.append(f"{name} has not one number for each of {len(ids):,} tokens")
        columns.append(column if column is not None and fits else [None] * len(ids))
    tokens = []
    for place, row in enumerate(zip(ids, mask, *columns, strict=True), start=1):
        token_id, is_generated, *values = row
        known = [_known(each, is_generated) for each in values]
        tokens.append(Token(place, token_id, is_generated, *known))
    return turn._replace(tokens=tuple(tokens), notes=tuple(notes))


def generated_count(plain: Mapping[str, Any]) -> int | None:
    """Count the tokens of a turn that the model said; None where that is not on record."""
    ids = plain.get("token_ids")
    if not isinstance(ids, list):
        return None
    mask = _mask(plain, len(ids))
    return None if mask is None else sum(mask)


def is_number(value: Any) -> TypeGuard[int | float]:
    """Say whether a value of a record is a finite number."""
    if type(value) is int:
        return abs(value) < 1 << 1000  # a float holds it
    return type(value) is float and math.isfinite(value)


def _is_id(value: Any) -> bool:
    return type(value) is int and 0 <= value < _LARGEST_ID


def _mask(plain: Mapping[str, Any], length: int) -> Sequence[bool] | None:
    """Return which tokens the model said: all, where a record of an answer alone has no mask."""
    mask = plain.get("mask")
    if mask is None:
        return [True] * length
    if not isinstance(mask, list) or len(mask) != length:
        return None
    return [bit == 1 for bit in mask]


def _known(value: Any, is_generated: bool) -> float | None:
    # Where the environment spoke a column has 0.0, which is no log-probability of anything.
    if not is_generated or not is_number(value):
        return None
    # No model gives more, and the sum of a page of larger ones may be beyond a float.
    return float(value) if abs(value) <= _LARGEST_VALUE else None
