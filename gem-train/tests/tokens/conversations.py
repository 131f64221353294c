"""Conversations that are played turn by turn through a codec."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gem import Message
from gem.tokens import ChatCodec

SYSTEM = Message("system", "Be brief.")
HELLO = Message("user", "Hello.")


def play(
    codec: ChatCodec,
    opening: Sequence[Message],
    turns: Sequence[tuple[str, Sequence[Message]]],
    *,
    ending: Sequence[int] = (),
) -> tuple[list[int] | None, list[Message]]:
    """Return all tokens after these turns, None where a rewrite was met, and all messages."""
    messages, since = list(opening), len(opening)
    ids = codec.opening(messages)
    for said, new in turns:
        said_ids = [*codec.encode(said), *ending]
        at = len(messages)
        messages += [Message("assistant", said), *new]
        added = codec.following(messages, since, at, said_ids)
        if added is None:
            return None, messages
        ids += [*said_ids, *added]
        if new[-1].role == "user":
            since = len(messages)
    return ids, messages


def user(*texts: str) -> list[Message]:
    return [Message("user", text) for text in texts]


def shown(tokenizer: Any, messages: Sequence[Message]) -> str:
    chat = [{"role": each.role, "content": each.text} for each in messages]
    return str(tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True))


class Bytes:
    """A tokenizer of bytes without an end, which has what is documented and no more."""

    eos_token_id: int | None = None
    all_special_ids: list[int] = []  # noqa: RUF012 - never changed

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return list(text.encode())

    def decode(self, token_ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        return bytes(token_ids).decode()

    def apply_chat_template(self, conversation: Any, **options: Any) -> str:
        said = [f"{each['role']}: {each['content']}\n" for each in conversation]
        return "".join([*said, "assistant: " if options["add_generation_prompt"] else ""])
