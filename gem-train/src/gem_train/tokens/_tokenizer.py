"""What is asked of a tokenizer, and how it is to decode. Knows nothing about chat templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from gem_train.tokens._calling import Chat

__all__ = ["Tokenizer", "decoding", "special_ids"]


class Tokenizer(Protocol):
    """What is asked of a tokenizer: those of `transformers` have it, where there is a template."""

    eos_token_id: int | None
    all_special_ids: list[int]

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]: ...

    def decode(self, token_ids: Sequence[int], *, skip_special_tokens: bool) -> str: ...

    def apply_chat_template(self, conversation: Chat, **options: Any) -> str: ...


def special_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """Return the special tokens, with those that were added without being named."""
    added: Mapping[int, Any] = getattr(tokenizer, "added_tokens_decoder", {})
    special = [id for id, token in added.items() if getattr(token, "special", False)]
    return frozenset([*tokenizer.all_special_ids, *special])


def decoding(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return how a tokenizer is to decode what the model said: as it was said."""
    # Special tokens are kept: some formats write calls of tools with them.
    options = {"skip_special_tokens": False}
    if getattr(tokenizer, "clean_up_tokenization_spaces", False):
        # The tokenizers of Llama 3 ask for it, and `transformers` 4 then takes spaces out of text:
        # "[1 , 2]" would be "[1, 2]". Others need not know this option.
        options["clean_up_tokenization_spaces"] = False
    return options
