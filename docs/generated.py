"""Write a page that a script makes, or say that the one on disk is not what would be made."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["update"]


def update(page: Path, text: str, *, script: str) -> int:
    """Write the page; with --check on the command line only compare, and return 1 if it differs.

    Pages are compared word by word: versions of Python put columns at other places.
    """
    if "--check" not in sys.argv[1:]:
        page.write_text(text, encoding="utf-8")
        return 0
    if page.read_text(encoding="utf-8").split() == text.split():
        return 0
    print(f"docs/{page.name} is out of date. Run: python docs/{script}", file=sys.stderr)  # noqa: T201
    return 1
