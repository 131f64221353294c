"""Tokens in, tokens out: what a model was given and what it said, and never anything re-tokenised.

`TokenPolicy` makes a policy of a function from token ids to token ids, `ChatCodec` finds the
tokens that the environment's turn adds, and `Trajectory` is an episode as tokens.
"""

from __future__ import annotations

from gem_train.tokens._calling import JSON_IN_TAGS, Calling, Chat, how_to_call, in_tags
from gem_train.tokens._codec import ChatCodec, OnRewrite
from gem_train.tokens._context import Codec, TokenContext, TokenTerms
from gem_train.tokens._policy import Sample, Sampled, TokenPolicy
from gem_train.tokens._tokenizer import Tokenizer
from gem_train.tokens._trajectory import Segment, TokenSequence, Trajectory, TurnSample

__all__ = [
    "JSON_IN_TAGS",
    "Calling",
    "Chat",
    "ChatCodec",
    "Codec",
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
