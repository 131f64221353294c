"""An encyclopedia in memory, and the shortest ways through it. Knows no game's rules."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from random import Random

from gem.errors import DataError
from gem_envs_games.wiki_game.backend import Page, is_nameable

__all__ = ["Graph", "bundled"]


class Graph:
    """Pages in memory, as a backend that knows every way. Never changed once it is made.

    Raises DataError where there are none, two share a title, one's title cannot be named in a
    box, or a link leads to none of them.

    >>> graph = Graph([Page("A", "", ("B",)), Page("B", "", ("C",)), Page("C", "", ("A",))])
    >>> graph.distances_to("C")
    {'C': 0, 'B': 1, 'A': 2}
    """

    def __init__(self, pages: Iterable[Page]) -> None:
        listed = list(pages)
        self._pages = {page.title: page for page in listed}
        self._titles = list(self._pages)
        self._forwards = {page.title: page.links for page in listed}
        self._backwards: dict[str, list[str]] = {title: [] for title in self._titles}
        if len(self._titles) < len(listed):
            raise _broken("two share a title", "Give each a title of its own.")
        if not listed:
            raise _broken("there are none", "Pass one at least.")
        for page in listed:
            if not is_nameable(page.title):
                what = f"{page.title!r:.80} cannot be named in a box"
                raise _broken(
                    what, "Give each a printable title with a letter or digit, without }."
                )
            for link in page.links:
                if link not in self._pages:
                    raise _broken(
                        f"{page.title!r} links to {link!r}, no page", "Give each link a page."
                    )
                self._backwards[link].append(page.title)

    def page(self, title: str) -> Page | None:
        return self._pages.get(title)

    def random_title(self, rng: Random) -> str:
        return rng.choice(self._titles)

    def close(self) -> None:
        """Do nothing: memory is all that is held."""

    def distances_from(self, title: str) -> dict[str, int]:
        """Count the links from a page to each that can be reached, the nearest first."""
        return _distances(self._forwards, title, ())

    def distances_to(self, title: str, avoided: Collection[str] = ()) -> dict[str, int]:
        """Count the links to a page from each that leads there, the nearest first.

        No way leads through one of the pages `avoided`, though it may begin there.
        """
        return _distances(self._backwards, title, avoided)


def _distances(
    links: Mapping[str, Iterable[str]], start: str, avoided: Collection[str]
) -> dict[str, int]:
    distances = {start: 0}
    waiting = deque([start])
    while waiting:
        title = waiting.popleft()
        further = distances[title] + 1
        for link in links[title]:
            if link not in distances:
                distances[link] = further
                if link not in avoided:
                    waiting.append(link)
    return distances


def _broken(what: str, what_to_do: str) -> DataError:
    return DataError(f"A graph was made of pages of which {what}. {what_to_do}", source="pages")


@lru_cache(1)
def bundled() -> Graph:
    """Return the encyclopedia that comes with this package, read once: about 600 pages.

    Every page of it can be reached from every other, in 8 links at most.
    """
    text = files(__package__).joinpath("pages.json").read_text(encoding="utf-8")
    return Graph(
        Page(title, page["summary"], tuple(page["links"]))
        for title, page in json.loads(text).items()
    )
