"""What one action led to. Knows nothing about environments."""

from __future__ import annotations

from typing import Any, NamedTuple

from gem.content import Observation

__all__ = ["Step", "as_step"]


class Step(NamedTuple):
    """What one action led to. Gymnasium's five, by name.

    `terminated`: the task ended. `truncated`: a limit ended it (turns, time, an error).
    `info` may hold `success` (bool), `reward_parts` (name to number) and `suffix` (the current
    state as text, for the conversation).
    """

    observation: Observation
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


def as_step(result: Any) -> Step:
    """Accept a Step or a plain tuple of its five fields. Raises TypeError on anything else."""
    if type(result) is Step:
        return result
    if isinstance(result, tuple) and len(result) == len(Step._fields):
        return Step._make(result)
    raise TypeError(
        f"step returned {type(result).__name__}. It must return a Step, or a tuple of "
        f"{', '.join(Step._fields)}."
    )
