"""`ObservationWrapper`: the four prompts of gem-llm in one class, by its arguments."""

from __future__ import annotations

from typing import Any

from gem.content import Message, Observation
from gem.env._env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import BadArguments
from gem.wrappers._chat import ChatPrompt, ChatTokenizer, assistant_message
from gem.wrappers._prompts import joined, new_text

__all__ = ["ObservationWrapper"]


class ObservationWrapper(ChatPrompt):
    """Show what was said in the episode as one prompt, `info["suffix"]` under the newest part.

    With `include_chat_template` the conversation is rendered by the tokenizer's chat template,
    with `apply_chat_template_on_reset` only its first message; else it is plain text, the
    answers among it with `include_action`. `max_history_length` is how many turns are shown
    beside the newest observation, None for all. A suffix stands inside the newest message:
    gem-llm put it behind the rendered prompt, where the model's own answer begins.
    """

    _id = "ObservationWrapper"
    _history: list[tuple[str | None, str]]

    def __init__(
        self,
        env: Env,
        include_action: bool = True,
        include_chat_template: bool = True,
        apply_chat_template_on_reset: bool = False,
        max_history_length: int | None = None,
        tokenizer: ChatTokenizer | str | None = None,
    ) -> None:
        self.include_action = include_action
        self.include_chat_template = include_chat_template
        self.apply_chat_template_on_reset = apply_chat_template_on_reset
        self.max_history_length = max_history_length
        self.prompt_is_finished = include_chat_template or apply_chat_template_on_reset
        if not self.prompt_is_finished:
            Wrapper.__init__(self, env)  # past ChatPrompt's, which wants a tokenizer
        elif tokenizer is not None:
            super().__init__(env, tokenizer)
        else:
            raise BadArguments(
                "ObservationWrapper was asked for a chat template and given no tokenizer. Pass "
                "tokenizer=, or include_chat_template=False.",
                subject="ObservationWrapper",
            )

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        self._history = []
        return self._prompt(None, observation, info), info

    def on_step(self, action: str, step: Step) -> Step:
        return step._replace(observation=self._prompt(action, step.observation, step.info))

    def _prompt(self, action: str | None, observation: Observation, info: dict[str, Any]) -> str:
        """Return the prompt, and keep the turn without its suffix."""
        # Only the newest turn shows its suffix: it is the state of now, and would be old later.
        turns = [*self._history, (action, new_text(observation, info))]
        self._history.append((action, new_text(observation, {})))
        if self.max_history_length is not None:
            newest = self.max_history_length + 1
            # The answer that came before the oldest observation is no longer shown.
            (_, oldest), *others = turns[-newest:]
            turns = [(None, oldest), *others]
            self._history = self._history[-newest:]  # or an endless episode would keep it all
        if self.include_chat_template:
            return self._render(_messages(turns))
        return self._as_text(turns)

    def _as_text(self, turns: list[tuple[str | None, str]]) -> str:
        pieces: list[str] = []
        for action, text in turns:
            if action is not None and self.include_action:
                pieces.append(action)
            is_opening = self.apply_chat_template_on_reset and not pieces
            pieces.append(self._render([Message("user", text)]) if is_opening else text)
        return joined(*pieces)


def _messages(turns: list[tuple[str | None, str]]) -> list[Message]:
    messages: list[Message] = []
    for action, text in turns:
        if action is not None:
            messages.append(assistant_message(action))
        messages.append(Message("user", text))
    return messages
