"""`concat`: the prompt is everything the environment said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gem.content import Observation
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.wrappers._prompts import joined, new_text

__all__ = ["Concat"]


class Concat(Wrapper):
    """Show every observation of the episode, oldest first, joined by newlines.

    `info["suffix"]` stands below the newest observation and is gone from the next prompt. What
    the policy answered is not shown: see `concat_with_action`.
    """

    rewrites_history = True
    _history: str = ""

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        self._history = ""
        return self._prompt(observation, info), info

    def on_step(self, action: str, step: Step) -> Step:
        return step._replace(observation=self._prompt(step.observation, step.info))

    def _prompt(self, observation: Observation, info: Mapping[str, Any]) -> str:
        prompt = joined(self._history, new_text(observation, info))
        # Kept without the suffix: it is the state of now, and wrong in every later prompt.
        self._history = joined(self._history, new_text(observation, {}))
        return prompt
