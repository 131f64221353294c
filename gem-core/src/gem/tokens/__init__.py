"""Tokens in, tokens out: what a model was given and what it said, and never anything re-tokenised.

`TokenPolicy` makes a policy of a function from token ids to token ids, `ChatCodec` finds the
tokens that the environment's turn adds, and `Trajectory` is an episode as tokens.
"""

from __future__ import annotations

from gem.tokens.codec import ChatCodec, Tokenizer
from gem.tokens.context import TokenContext, TokenTerms
from gem.tokens.policy import Sample, Sampled, TokenPolicy
from gem.tokens.trajectory import Segment, TokenSequence, Trajectory, TurnSample

__all__ = [
    "ChatCodec",
    "Sample",
    "Sampled",
    "Segment",
    "TokenContext",
    "TokenPolicy",
    "TokenSequence",
    "TokenTerms",
    "Tokenizer",
    "Trajectory",
    "TurnSample",
]
