"""Tokens in, tokens out: what a model was given and what it said, and never anything re-tokenised.

`TokenPolicy` makes a policy of a function from token ids to token ids, `ChatCodec` finds the
tokens that the environment's turn adds, and `Trajectory` is an episode as tokens.
"""

from __future__ import annotations

from gem.tokens.calling import JSON_IN_TAGS, Calling, Chat, how_to_call, in_tags
from gem.tokens.codec import ChatCodec, OnRewrite, Tokenizer
from gem.tokens.context import TokenContext, TokenTerms
from gem.tokens.policy import Sample, Sampled, TokenPolicy
from gem.tokens.trajectory import Segment, TokenSequence, Trajectory, TurnSample

__all__ = [
    "JSON_IN_TAGS",
    "Calling",
    "Chat",
    "ChatCodec",
    "OnRewrite",
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
    "how_to_call",
    "in_tags",
]
