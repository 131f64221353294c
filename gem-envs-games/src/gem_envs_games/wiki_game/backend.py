"""What WikiGame needs of an encyclopedia. Knows nothing about turns or rewards."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Protocol

__all__ = ["Backend", "Page", "folded", "is_nameable"]

_LONGEST = 255  # MediaWiki's own limit


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its own title, what it is about, and the titles that it links to, each once.

    Titles are shown, and named, in a box: see `is_nameable`.
    """

    title: str
    summary: str
    links: tuple[str, ...]
    names: dict[str, str] = field(init=False, repr=False, compare=False)
    """The links by their folded titles; of two that fold alike, the first."""
    shown: str = field(init=False, repr=False, compare=False)
    """The links as a player sees them, one a line."""

    def __post_init__(self) -> None:
        names: dict[str, str] = {}
        for link in self.links:
            names.setdefault(folded(link), link)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "shown", "\n".join(f"\\boxed{{{link}}}" for link in self.links))


class Backend(Protocol):
    """An encyclopedia to play in. `gem_envs_games.wiki_game.Graph` is one made of pages in memory.

    A page asked for twice must be the same: a game keeps titles and asks again. Raise DataError
    where a page cannot be had. One that waits (for a network, say) belongs behind an id with
    `blocking=True`.
    """

    def page(self, title: str) -> Page | None:
        """Return the page, under its own title where `title` is another name for it.

        None if there is none.
        """
        ...

    def random_title(self, rng: Random) -> str:
        """Return the title of a page. All chance comes from `rng`."""
        ...

    def close(self) -> None:
        """Free what is held. It may be used again afterwards, as a fork of the game may."""
        ...


def folded(title: str) -> str:
    """Return a title without what makes no difference: letter case, and more than one space.

    >>> folded("  Mercury   (Planet) ")
    'mercury (planet)'
    """
    return " ".join(title.split()).casefold()


def is_nameable(title: str) -> bool:
    """Say whether a title can be named in a box, and shown on one line: a letter or digit is due.

    >>> is_nameable("Washington, D.C."), is_nameable("a}"), is_nameable("?")
    (True, False, False)
    """
    is_short = len(title) <= _LONGEST and any(map(str.isalnum, title))
    return is_short and "}" not in title and "\\boxed{" not in title and title.isprintable()
