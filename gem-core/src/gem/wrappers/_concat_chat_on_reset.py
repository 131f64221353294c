"""`concat_chat_on_reset`: a chat template around the first observation, then plain text."""

from __future__ import annotations

from typing import Any

from gem.content import Observation, normalise_text
from gem.env._step import Step
from gem.wrappers._chat import ChatPrompt
from gem.wrappers._prompts import new_messages, new_text

__all__ = ["ConcatChatOnReset"]


class ConcatChatOnReset(ChatPrompt):
    """Let the model write one long answer into which the environment's replies are inserted.

    The first prompt is the first observation in the chat template, generation prompt included.
    Each later prompt is the one before, then the action as it was written, with nothing between,
    then a newline, the new observation and a newline. `info["suffix"]` stands below the newest
    observation and is gone from the next prompt; without suffixes every prompt extends the one
    before it. `tokenizer` and `system_prompt` are as for `concat_chat`.
    """

    _id = "concat_chat_on_reset"
    _history: str = ""

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        prompt = self._first_prompt(observation, info)
        self._history = self._first_prompt(observation, {}) if info.get("suffix") else prompt
        return prompt, info

    def on_step(self, action: str, step: Step) -> Step:
        # Nothing stands between the prompt and the action: the model went on writing there, and
        # what it wrote is found again, token by token, at the beginning of the next prompt.
        with_action = f"{self._history}{normalise_text(action)}\n"
        prompt = with_action + _line_of(new_text(step.observation, step.info))
        self._history = with_action + _line_of(new_text(step.observation, {}))
        return step._replace(observation=prompt)

    def _first_prompt(self, observation: Observation, info: dict[str, Any]) -> str:
        return self._render([*self._opening(), *new_messages(observation, info)])


def _line_of(text: str) -> str:
    return f"{text}\n" if text else ""
