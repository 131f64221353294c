"""`ReasoningGymEnv`: the class of gem-llm's `gem.envs.reasoning_gym`."""

from __future__ import annotations

from typing import Any

from gem.compat import AsPublished
from gem_envs_reasoning.task import Task

__all__ = ["ReasoningGymEnv"]


class ReasoningGymEnv(AsPublished):
    """`rg:NAME` as `gem.make(..., compat=True)` makes it, from gem-llm's arguments.

    `size` is ignored: questions are drawn from all there are, and seldom twice. `seed` is what
    the first `reset()` begins with.
    """

    def __init__(self, name: str, size: int = 500, seed: int = 42, **_: Any) -> None:
        super().__init__(Task(name=name, answer_form="boxed"), seed)
