"""Rewards into returns and advantages, one number a turn.

What is here is of the distribution `gem-train`, and this module is its door in core.
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

__all__ = [
    "discounted_returns",
    "dr_grpo",
    "gae",
    "grpo",
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
    if name not in __all__:
        raise AttributeError(f"module 'gem.returns' has no attribute {name!r}")
    from gem.registry._behind_doors import package_behind  # here: the door itself costs nothing

    value: object = getattr(package_behind("gem.returns", "gem-train"), name)
    globals()[name] = value  # a name that was asked for once does not come here again
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
