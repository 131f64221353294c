"""Say what counts as a text in a row. Knows nothing about tables."""

from __future__ import annotations

from typing import Any

__all__ = ["is_text"]


def is_text(value: Any) -> bool:
    r"""Say whether a value is a text that is not blank and can be written as UTF-8.

    JSON can spell half of a surrogate pair, which no file, request or record can hold.

    >>> is_text("Rome"), is_text(" "), is_text("\ud800"), is_text(None)
    (True, False, False, False)
    """
    if not isinstance(value, str) or not value.strip():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
