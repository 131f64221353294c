"""`transform_observation`: a function between the environment's observations and the policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gem.content import Observation
from gem.env._env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.wrappers._functions import as_function

__all__ = ["TransformObservation"]


class TransformObservation(Wrapper):
    """Pass every observation, the first one too, through `function`.

    `function` takes and returns an observation and keeps nothing between calls. Given as
    `module:function` it is part of the stack's spec; a live one is recorded as opaque.
    """

    shared = ("_function",)

    def __init__(self, env: Env, function: Callable[[Observation], Observation] | str) -> None:
        super().__init__(env)
        self._function = as_function(function, subject="transform_observation")

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        return self._function(observation), info

    def on_step(self, action: str, step: Step) -> Step:
        return step._replace(observation=self._function(step.observation))
