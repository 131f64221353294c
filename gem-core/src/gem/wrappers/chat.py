"""Render messages with a tokenizer's chat template. Knows nothing about any tokenizer library."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from gem.content import Action, Message, normalise_text
from gem.errors import BadArguments
from gem.targets import load_target

__all__ = ["ChatTokenizer", "as_tokenizer", "assistant_message", "rendered"]


@runtime_checkable
class ChatTokenizer(Protocol):
    """Anything with a chat template, as a Hugging Face tokenizer has one."""

    def apply_chat_template(self, conversation: Any, **options: Any) -> Any:
        """Return `conversation`, a list of message dictionaries, as the model reads it."""


def as_tokenizer(tokenizer: ChatTokenizer | str, *, subject: str) -> ChatTokenizer:
    """Accept a tokenizer, or a `module:callable` that returns one and is called once a process.

    Raises BadArguments on anything else, TargetError where the target cannot be imported.
    """
    found = tokenizer
    if isinstance(tokenizer, str):
        if ":" not in tokenizer:
            raise BadArguments(
                f"{subject} was given tokenizer={tokenizer!r}. It loads no tokenizer by name: "
                "pass the tokenizer itself (say, of AutoTokenizer.from_pretrained), or the "
                "'module:callable' of a function of yours that returns it.",
                subject=subject,
            )
        found = _loaded(tokenizer)
    if not isinstance(found, ChatTokenizer):
        raise BadArguments(
            f"{subject} got a {type(found).__name__} from tokenizer={tokenizer!r}, and needs an "
            "object with apply_chat_template, as a Hugging Face tokenizer has it.",
            subject=subject,
        )
    return found


@functools.lru_cache(maxsize=32)
def _loaded(target: str) -> Any:
    return load_target(target)()


def assistant_message(action: str) -> Message:
    """Return an action as the message that it was."""
    calls = action.tool_calls if isinstance(action, Action) else ()
    return Message("assistant", normalise_text(action), calls)


def rendered(
    tokenizer: ChatTokenizer, messages: Iterable[Message], tools: Sequence[Mapping[str, Any]]
) -> str:
    """Return the prompt to which the model's next answer is appended."""
    options: dict[str, Any] = {"tools": list(tools)} if tools else {}
    text: str = tokenizer.apply_chat_template(
        list(map(_plain, messages)), add_generation_prompt=True, tokenize=False, **options
    )
    return text


def _plain(message: Message) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        plain["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": dict(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.call_id is not None:
        plain["tool_call_id"] = message.call_id
    return plain
