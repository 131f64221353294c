"""Put plain data into JSON that every reader takes.

Knows nothing about episodes.
"""

from __future__ import annotations

import json
from typing import Any

from gem.content import normalise_text

__all__ = ["json_text"]


def json_text(plain: Any) -> str:
    r"""Return JSON in one line, as text that any encoding can write.

    Half of a surrogate pair, which no UTF-8 can hold, becomes U+FFFD; all else stays what it is,
    NUL and other control characters as JSON's escapes.

    >>> json_text({"a": "\ud800\x00"}) == '{"a":"\ufffd\\u0000"}'
    True
    """
    # Unescaped, so that one pass over the text finds every lone surrogate, keys included.
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return normalise_text(text)
