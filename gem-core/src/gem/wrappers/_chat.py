"""Render messages with a tokenizer's chat template. Knows nothing about any tokenizer library."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, runtime_checkable

from gem.content import Action, Message, normalise_text
from gem.env._env import Env
from gem.env._wrapper import Wrapper
from gem.errors import BadArguments
from gem.registry._importing import load_target

__all__ = ["ChatPrompt", "ChatTokenizer", "assistant_message"]


@runtime_checkable
class ChatTokenizer(Protocol):
    """Anything with a chat template, as a Hugging Face tokenizer has one."""

    def apply_chat_template(self, conversation: Any, **options: Any) -> Any:
        """Return `conversation`, a list of message dictionaries, as the model reads it."""


class ChatPrompt(Wrapper):
    """What the wrappers that render a finished prompt share: a tokenizer and a system prompt."""

    rewrites_history = True
    prompt_is_finished = True
    shared = ("_tokenizer",)  # no plain data, and the same for all
    _id: ClassVar[str]  # for errors

    def __init__(
        self, env: Env, tokenizer: ChatTokenizer | str, *, system_prompt: str | None = None
    ) -> None:
        super().__init__(env)
        self._tokenizer = _as_tokenizer(tokenizer, subject=self._id)
        self._system_prompt = system_prompt

    def _opening(self) -> list[Message]:
        """Return what stands before the first observation."""
        return [] if self._system_prompt is None else [Message("system", self._system_prompt)]

    def _render(self, messages: Iterable[Message]) -> str:
        """Return the prompt to which the model's next answer is appended."""
        return _rendered(self._tokenizer, messages, self.env.tools)


def _as_tokenizer(tokenizer: ChatTokenizer | str, *, subject: str) -> ChatTokenizer:
    """Accept a tokenizer, or a `module:callable` that returns one and is called once a process.

    Raises BadArguments on anything else, TargetError where the target cannot be imported.
    """
    loaded = tokenizer
    if isinstance(tokenizer, str):
        if ":" not in tokenizer:
            raise BadArguments(
                f"{subject} was given tokenizer={tokenizer!r}. It loads no tokenizer by name: "
                "pass the tokenizer itself (say, of AutoTokenizer.from_pretrained), or the "
                "'module:callable' of a function of yours that returns it.",
                subject=subject,
            )
        loaded = _loaded(tokenizer)
    if not isinstance(loaded, ChatTokenizer):
        raise BadArguments(
            f"{subject} got a {type(loaded).__name__} from tokenizer={tokenizer!r}, and needs an "
            "object with apply_chat_template, as a Hugging Face tokenizer has it.",
            subject=subject,
        )
    return loaded


# Thousands of environments of a process share one: a tokenizer may take seconds to load.
@functools.lru_cache(maxsize=32)
def _loaded(target: str) -> Any:
    return load_target(target)()


def assistant_message(action: str) -> Message:
    """Return an action as the message that it was."""
    calls = action.tool_calls if isinstance(action, Action) else ()
    return Message("assistant", normalise_text(action), calls)


def _rendered(
    tokenizer: ChatTokenizer, messages: Iterable[Message], tools: Sequence[Mapping[str, Any]]
) -> str:
    # Left out where there are none: a template may ask only whether it was given any.
    options: dict[str, Any] = {"tools": list(tools)} if tools else {}
    chat = [replace(message, content=message.text).to_chat() for message in messages]
    text: str = tokenizer.apply_chat_template(
        chat, add_generation_prompt=True, tokenize=False, **options
    )
    return text
