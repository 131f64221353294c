"""What a codec asks of a tokenizer. Knows no tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

__all__ = ["Tokenizer"]


@runtime_checkable
class Tokenizer(Protocol):
    """Turns text into token ids from 0 to `size - 1`, and ids into text.

    Three ids are special, and `encode` never gives one of them, whatever the text spells.
    """

    @property
    def size(self) -> int:
        """How many ids there are."""

    @property
    def begin_id(self) -> int:
        """The id that a sequence begins with."""

    @property
    def answer_id(self) -> int:
        """The id after which the model answers, where no text of the codec stands there."""

    @property
    def end_id(self) -> int:
        """The id with which the model ends its answer."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, in time linear in its length. It may be any text."""

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids; special ones have none."""

    def describe(self) -> Mapping[str, Any]:
        """Return JSON data from which `tokenizer_from` makes an equal tokenizer."""
