"""Conversations as tokens for small policies: tokenizers, and a codec without a chat template.

Knows nothing about models. Needs no torch.
"""

from __future__ import annotations

from gem_baselines.text._bytes import ByteTokenizer
from gem_baselines.text._codec import TextCodec
from gem_baselines.text._describing import tokenizer_from
from gem_baselines.text._digests import keep_matches
from gem_baselines.text._tokenizer import Tokenizer
from gem_baselines.text._words import WordTokenizer

__all__ = [
    "ByteTokenizer",
    "TextCodec",
    "Tokenizer",
    "WordTokenizer",
    "keep_matches",
    "tokenizer_from",
]
