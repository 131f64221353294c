"""What a training loop takes from GEM: episodes as tokens, and rewards as advantages.

Importing this package costs nothing: each public name loads its module on first use. `gem.tokens`
and `gem.returns` show the same names. It imports what is public of core, and knows nothing about
how episodes are run or what environments are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gem_train.returns import (
        discounted_returns,
        dr_grpo,
        gae,
        grpo,
        mt_grpo,
        mt_rloo,
        rebn,
        rebn_leave_one_out,
        rloo,
        signed_rewards,
        to_tokens,
        to_turns,
    )
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

__version__ = "0.1.0"

_HOMES = {
    "gem_train.returns": (
        "discounted_returns dr_grpo gae grpo mt_grpo mt_rloo rebn rebn_leave_one_out rloo "
        "signed_rewards to_tokens to_turns"
    ),
    "gem_train.tokens": (
        "JSON_IN_TAGS Calling Chat ChatCodec Codec OnRewrite Sample Sampled Segment "
        "TokenContext TokenPolicy TokenSequence TokenTerms Tokenizer Trajectory "
        "TurnSample how_to_call in_tags"
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

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
    "discounted_returns",
    "dr_grpo",
    "gae",
    "grpo",
    "how_to_call",
    "in_tags",
    "mt_grpo",
    "mt_rloo",
    "rebn",
    "rebn_leave_one_out",
    "rloo",
    "signed_rewards",
    "to_tokens",
    "to_turns",
]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'gem_train' has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
