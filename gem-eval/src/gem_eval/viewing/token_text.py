"""Texts of token ids, by a tokenizer in a folder of this machine. Nothing of the folder is run.

Knows nothing about logs or pages.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from gem.errors import in_one_line
from gem_eval.errors import ViewError

__all__ = ["NEEDED", "TokenTexts", "load_texts"]

NEEDED = ("tokenizers>=0.20",)
_FILE = "tokenizer.json"
_MOST = 200  # characters that are shown of one token
_NO_CHARACTER = "\N{REPLACEMENT CHARACTER}"
_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"  # how vocabularies of SentencePiece write a space


class TokenTexts:
    """What a tokenizer makes of single ids. `name` is the path that it was loaded from."""

    def __init__(self, tokenizer: Any, name: str) -> None:
        self.name = name
        self._tokenizer = tokenizer
        self._known: dict[int, str] = {}

    def text(self, token_id: int) -> str:
        """Return the text of an id, or its name where its bytes are no whole character.

        The name of bytes is like `<E2 96>`; an id that the tokenizer has not is `<no token 7>`.
        """
        found = self._known.get(token_id)
        if found is None:
            found = self._text(token_id)[:_MOST]
            self._known[token_id] = found
        return found

    def _text(self, token_id: int) -> str:
        name = self._tokenizer.id_to_token(token_id)
        if name is None:
            return f"<no token {token_id}>"
        text = str(self._tokenizer.decode([token_id], skip_special_tokens=False))
        if not text or _NO_CHARACTER in text:
            return _named(name)
        # A decoder takes the space from what begins a text, and a token seldom does.
        if name.startswith(_SPACE) and not text.startswith(" "):
            return f" {text}"
        return text


def load_texts(path: Path) -> TokenTexts:
    """Load the `tokenizer.json` of a folder, or the file itself. Raises ViewError."""
    from tokenizers import Tokenizer  # heavy: 0.1 s

    file = path / _FILE if path.is_dir() else path
    if not file.is_file():
        raise ViewError(
            f"The texts of tokens were to come from {path}, and there is no {_FILE}. Name the "
            "folder of a model that has one, or the file."
        )
    try:
        return TokenTexts(Tokenizer.from_file(str(file)), str(path))
    except Exception as error:  # the package raises nothing narrower
        raise ViewError(
            f"The texts of tokens were to come from {file}, and that is no tokenizer "
            f"({in_one_line(error, at_most=200)}). Save it again with save_pretrained()."
        ) from error


def _named(name: str) -> str:
    """Return the name of a token, by its bytes where a byte-level vocabulary spells them.

    >>> _named("<0xE2>"), _named("âĸ")
    ('<0xE2>', '<E2 96>')
    """
    values = [_byte_of().get(character) for character in name]
    spelled = [f"{value:02X}" for value in values if value is not None]
    if name.isascii() or not spelled or len(spelled) < len(values):
        return name
    return f"<{' '.join(spelled)}>"


@cache
def _byte_of() -> dict[str, int]:
    """Return the byte that each character of a byte-level vocabulary stands for.

    Bytes that are printable in Latin-1 stand for themselves, all others follow from 256 on.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    found = {chr(byte): byte for byte in printable}
    others = [byte for byte in range(256) if byte not in printable]
    found |= {chr(256 + number): byte for number, byte in enumerate(others)}
    return found
