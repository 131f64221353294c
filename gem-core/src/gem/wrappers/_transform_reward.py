"""`transform_reward`: a function on every reward."""

from __future__ import annotations

from collections.abc import Callable

from gem.env._env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.wrappers._functions import as_function

__all__ = ["TransformReward"]


class TransformReward(Wrapper):
    """Pass every reward through `function`; `info["reward_parts"]` keeps the original's parts.

    `reward_range` is the range of the new rewards. Without one it is unlimited: what a function
    does to the wrapped environment's range cannot be known.
    """

    shared = ("_function",)

    def __init__(
        self,
        env: Env,
        function: Callable[[float], float] | str,
        *,
        reward_range: tuple[float, float] | None = None,
    ) -> None:
        super().__init__(env)
        self._function = as_function(function, subject="transform_reward")
        self.reward_range = reward_range or Env.reward_range

    def on_step(self, action: str, step: Step) -> Step:
        return step._replace(reward=float(self._function(step.reward)))
