"""`concat_chat`: the prompt is the conversation in a tokenizer's chat template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gem.content import Message, Observation
from gem.env._step import Step
from gem.wrappers._chat import ChatPrompt, assistant_message
from gem.wrappers._prompts import new_messages

__all__ = ["ConcatChat"]


class ConcatChat(ChatPrompt):
    """Render the whole conversation with `tokenizer.apply_chat_template`: a finished prompt.

    Observations are user messages (or the messages that they are), actions assistant messages,
    `system_prompt` the first one. `info["suffix"]` stands in the newest message and is gone from
    the next prompt. The environment's `tools` go to the template. `tokenizer` is an object with
    `apply_chat_template`, or the `module:callable` of a function that returns one.
    """

    _id = "concat_chat"
    _history: list[Message]

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        self._history = self._opening()
        return self._prompt(observation, info), info

    def on_step(self, action: str, step: Step) -> Step:
        self._history.append(assistant_message(action))
        return step._replace(observation=self._prompt(step.observation, step.info))

    def _prompt(self, observation: Observation, info: Mapping[str, Any]) -> str:
        prompt_messages = [*self._history, *new_messages(observation, info)]
        # Kept without the suffix: it is the state of now, and wrong in every later prompt.
        self._history.extend(new_messages(observation, {}))
        return self._render(prompt_messages)
