"""A tokenizer whose tokens are the bytes of UTF-8. Needs no vocabulary and knows every text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["ByteTokenizer"]

_NUM_BYTES = 256


class ByteTokenizer:
    """One token a byte of UTF-8, and three special ones: 259 ids.

    >>> tokenizer = ByteTokenizer()
    >>> tokenizer.encode("Hé")
    [72, 195, 169]
    >>> tokenizer.decode([72, 195, 169, tokenizer.end_id])
    'Hé'
    """

    size = _NUM_BYTES + 3
    begin_id = _NUM_BYTES
    answer_id = _NUM_BYTES + 1
    end_id = _NUM_BYTES + 2

    def encode(self, text: str) -> list[int]:
        # A text of Python may hold lone surrogates, which UTF-8 has no bytes for.
        return list(text.encode("utf-8", errors="replace"))

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids; what is no UTF-8 becomes U+FFFD, and special ids are left out."""
        return bytes(each for each in ids if each < _NUM_BYTES).decode("utf-8", errors="replace")

    def describe(self) -> dict[str, Any]:
        return {"kind": "bytes"}
