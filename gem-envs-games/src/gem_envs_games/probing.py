"""What games need that is no package and not here. Imports no game, TextArena or NLTK."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from gem_envs_games.textarena.listing import family_of

__all__ = ["served_wiki", "textarena"]


def served_wiki(url: str | None = None, **_: object) -> tuple[str, str] | None:
    """Return that a server is to be named, or None where one is."""
    if url is None:
        return "a server that you name", "url=ADDRESS, of kiwix-serve book=NAME too"
    return None


def textarena(name: str, **_: object) -> tuple[str, str] | None:
    """Return what keeps a game of TextArena from being made here and what to do, or None."""
    family = family_of(name)
    if family.missing:
        return "a TextArena that can run it", f"none: {family.missing}"
    if sys.version_info < family.python:
        needed = ".".join(map(str, family.python))
        return f"Python {needed}", f"Python {needed} or newer"
    absent = [corpus for corpus in family.corpora if not _is_here(corpus)]
    if absent:
        return f"the NLTK data {' and '.join(absent)}", (
            f"python -m nltk.downloader {' '.join(absent)}"
        )
    return None


def _is_here(corpus: str) -> bool:
    return any(
        list(folder.glob(f"*/{corpus}")) + list(folder.glob(f"*/{corpus}.zip"))
        for folder in _folders()
    )


def _folders() -> Iterator[Path]:
    """Yield the folders that NLTK searches."""
    yield from map(Path, filter(None, os.environ.get("NLTK_DATA", "").split(os.pathsep)))
    yield Path("~/nltk_data").expanduser()
    for prefix in (sys.prefix, "/usr", "/usr/local"):
        for folder in ("nltk_data", "share/nltk_data", "lib/nltk_data"):
            yield Path(prefix, folder)
