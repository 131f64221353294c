"""An episode as tokens: policies by token ids, the chat codec, trajectories.

What is here is of the distribution `gem-train`, and this module is its door in core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gem_train.tokens import (
        JSON_IN_TAGS,
        Calling,
        Chat,
        ChatCodec,
        Codec,
        OnRewrite,
        Sample,
        Sampled,
        Segment,
        TokenContext,
        Tokenizer,
        TokenPolicy,
        TokenSequence,
        TokenTerms,
        Trajectory,
        TurnSample,
        how_to_call,
        in_tags,
    )

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


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'gem.tokens' has no attribute {name!r}")
    from gem.registry._behind_doors import package_behind  # here: the door itself costs nothing

    value: object = getattr(package_behind("gem.tokens", "gem-train"), name)
    globals()[name] = value  # a name that was asked for once does not come here again
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
