"""What is asked of a sampler, and what it answers. Knows no model."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Answer", "Question"]


class Question(NamedTuple):
    """A sequence to continue: by at most `limit` tokens, drawn with `seed`."""

    ids: tuple[int, ...]
    limit: int
    seed: int


class Answer(NamedTuple):
    """The tokens that continue a sequence, and the logprob of each."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
