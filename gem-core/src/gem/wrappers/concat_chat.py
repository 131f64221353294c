"""`concat_chat`: the prompt is the conversation in a tokenizer's chat template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gem.content import Message, Observation
from gem.env import Env
from gem.step import Step
from gem.wrapper import Wrapper
from gem.wrappers.chat import ChatTokenizer, as_tokenizer, assistant_message, rendered
from gem.wrappers.prompts import new_messages

__all__ = ["ConcatChat"]


class ConcatChat(Wrapper):
    """Render the whole conversation with `tokenizer.apply_chat_template`: a finished prompt.

    Observations are user messages (or the messages that they are), actions assistant messages,
    `system_prompt` the first one. `info["suffix"]` stands in the newest message and is gone from
    the next prompt. The environment's `tools` go to the template. `tokenizer` is an object with
    `apply_chat_template`, or the `module:callable` of a function that returns one.
    """

    rewrites_history = True
    prompt_is_finished = True
    shared = ("_tokenizer",)

    def __init__(
        self, env: Env, tokenizer: ChatTokenizer | str, *, system_prompt: str | None = None
    ) -> None:
        super().__init__(env)
        self._tokenizer = as_tokenizer(tokenizer, subject="concat_chat")
        self._system_prompt = system_prompt
        self._history: list[Message] = []

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        system = self._system_prompt
        self._history = [] if system is None else [Message("system", system)]
        return self._prompt(observation, info), info

    def on_step(self, action: str, step: Step) -> Step:
        self._history.append(assistant_message(action))
        return step._replace(observation=self._prompt(step.observation, step.info))

    def _prompt(self, observation: Observation, info: Mapping[str, Any]) -> str:
        shown = [*self._history, *new_messages(observation, info)]
        self._history.extend(new_messages(observation, {}))
        return rendered(self._tokenizer, shown, self.env.tools)
