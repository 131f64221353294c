"""What both kinds of replay say of a difference. Knows nothing about episodes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from os.path import commonprefix
from typing import Any

from gem.cli._text import one_line

__all__ = ["difference_lines", "version_lines"]

_MOST_SHOWN = 300  # characters of a value that differs
_MOST_ALIKE = 40  # characters before the first that differs


def difference_lines(recorded: Any, replayed: Any) -> Iterator[str]:
    """Yield a line for each of two values that differ; of long texts the part where they do."""
    if isinstance(recorded, str) and isinstance(replayed, str):
        alike = commonprefix([recorded, replayed])  # noqa: RUF071 - of text, and no paths
        start = len(alike) - _MOST_ALIKE
        if start > 0 and max(len(recorded), len(replayed)) > _MOST_SHOWN:
            recorded = f"...{recorded[start:]}"
            replayed = f"...{replayed[start:]}"
    yield f"  recorded  {_value(recorded)}"
    yield f"  replayed  {_value(replayed)}"


def version_lines(changed: Mapping[str, tuple[str | None, str | None]]) -> Iterator[str]:
    """Yield a line for each version that is not the one on record."""
    for name, (then, now) in sorted(changed.items()):
        yield one_line(f"{name} was {then or 'not there'}, and is {now or 'not there'}.")


def _value(value: Any) -> str:
    text = one_line(json.dumps(value, ensure_ascii=False, default=repr))
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."
