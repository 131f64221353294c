"""What no tabular policy can be made with, or asked for. Knows nothing about tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gem.errors import BadArguments
from gem_baselines.learning_policy import Per

__all__ = ["check_arguments", "check_per"]


def check_per(per: Per) -> None:
    """Raise BadArguments for what is by token."""
    if per == "token":
        raise BadArguments(
            "A tabular policy was asked to learn by token, and answers in whole texts: it has no "
            "tokens. Choose an estimator by turn, such as ppo, or a policy that plays by tokens.",
            subject="per",
        )


def check_arguments(
    actions: Sequence[str],
    *,
    above_0: Mapping[str, float | None],
    shares: Mapping[str, float | None],
    epochs: int,
    entropy: float,
) -> None:
    """Raise BadArguments on what no tabular policy can be made with.

    Of `above_0` and `shares` None is allowed.
    """
    problems = []
    if not actions or len(set(actions)) < len(actions):
        problems.append("actions must be one text or more, each another")
    for name, value in above_0.items():
        if value is not None and not value > 0:
            problems.append(f"{name} is {value}, and must be above 0")
    if epochs < 1:
        problems.append(f"epochs is {epochs}, and must be 1 or more")
    for name, value in shares.items():
        if value is not None and not 0 <= value <= 1:
            problems.append(f"{name} is {value}, and must be from 0 to 1")
    if not entropy >= 0:
        problems.append(f"entropy is {entropy}, and must be 0 or more")
    if problems:
        raise BadArguments(
            f"A tabular policy cannot be made: {'; '.join(problems)}. Change these arguments.",
            subject="tabular",
            problems=problems,
        )
