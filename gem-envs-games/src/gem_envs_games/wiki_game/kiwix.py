"""The pages of a wiki in a ZIM file, served by kiwix-serve."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import lru_cache
from html.parser import HTMLParser
from random import Random
from string import ascii_lowercase, ascii_uppercase
from urllib.parse import quote, unquote, urljoin, urlsplit

from pydantic import BaseModel, TypeAdapter, ValidationError

from gem_envs_games.wiki_game.backend import Page, is_nameable
from gem_envs_games.wiki_game.server import WikiReply, WikiServer

__all__ = ["Kiwix"]

_KEPT = 512
_MOST_LINKS = 500
_LONGEST_SUMMARY = 1000
_TRIES = 10
_FOLDER = "A/"  # where older ZIM files keep their articles
_NO_ARTICLES = ("-/", "I/", "J/", "M/", "_")
_NO_PAGES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ogg", ".ogv", ".webm", ".css")


class _Suggestion(BaseModel):
    kind: str = "path"
    path: str = ""


_SUGGESTIONS = TypeAdapter(list[_Suggestion])


class Kiwix:
    """The articles of a ZIM file made from a MediaWiki, such as Wikipedia's.

    `url` is the address of kiwix-serve, which must know `/content`, and `book` the name under
    which it has the file. A page has its first 500 links; its title is its path. `random_title`
    draws two letters, and then one of the 50 titles that kiwix-serve suggests for them: a ZIM
    file never changes, so with one version of kiwix-serve a seed draws the same page, which
    `/random` would not. Where none begins with both letters, the first is enough. The last 512
    pages are kept.
    """

    def __init__(self, url: str, book: str, *, timeout_s: float = 10.0, retries: int = 2) -> None:
        self._server = WikiServer(url, timeout_s=timeout_s, retries=retries)
        self._book = book
        self._content = f"/content/{quote(book, safe='')}/"
        self._root = unquote(urlsplit(self._server.url + self._content).path)
        self._page = lru_cache(_KEPT)(self._fetched)

    def page(self, title: str) -> Page | None:
        return self._page(title)

    def random_title(self, rng: Random) -> str:
        for _ in range(_TRIES):
            first = rng.choice(ascii_uppercase)
            second = rng.choice(ascii_lowercase)
            titles = self._suggested(first + second) or self._suggested(first)
            if titles:
                return rng.choice(titles)
        raise self._server.broken(f"no titles of {self._book!r}, asked {_TRIES} times for some")

    def close(self) -> None:
        self._server.close()

    def _suggested(self, term: str) -> list[str]:
        answer = self._server.get("/suggest", {"content": self._book, "term": term, "count": 50})
        if answer is None:
            raise self._server.broken(f"status 404 for the book {self._book!r}")
        try:
            suggestions = _SUGGESTIONS.validate_json(answer.text)
        except ValidationError as error:
            raise self._server.broken("this is not what kiwix-serve suggests") from error
        paths = (
            suggestion.path
            for suggestion in suggestions
            if suggestion.kind == "path" and suggestion.path
        )
        return [title for title in map(_title, paths) if is_nameable(title)]

    def _fetched(self, title: str) -> Page | None:
        path = quote(title.replace(" ", "_"))
        for folder in ("", _FOLDER):
            answer = self._server.get(self._content + folder + path, {})
            if answer is not None:
                return self._read(answer) if "html" in answer.kind else None
        return None

    def _read(self, answer: WikiReply) -> Page | None:
        own = self._path(answer.url)
        if own is None or not is_nameable(_title(own)):
            return None
        reader = _Reader()
        with contextlib.suppress(AssertionError):  # it gives up on "<![<": take what came before
            reader.feed(answer.text)  # and no close(): what is cut off at the end is no link
        links = dict.fromkeys(self._titles(answer.url, reader.hrefs))
        links.pop(_title(own), None)
        return Page(_title(own), reader.paragraph[:_LONGEST_SUMMARY], tuple(links)[:_MOST_LINKS])

    def _titles(self, base: str, hrefs: list[str]) -> Iterator[str]:
        for href in hrefs:
            try:
                path = self._path(urljoin(base, href))
            except ValueError:  # no address at all
                continue
            if path and is_nameable(_title(path)):
                yield _title(path)

    def _path(self, url: str) -> str | None:
        """Return where in the book an address leads, None if it is out of it or no article."""
        parts = urlsplit(url)
        path = unquote(parts.path)
        is_here = parts.netloc == urlsplit(self._server.url).netloc and path.startswith(self._root)
        inside = path.removeprefix(self._root)
        if not is_here or inside.startswith(_NO_ARTICLES) or inside.lower().endswith(_NO_PAGES):
            return None
        return inside


def _title(path: str) -> str:
    """Return the title of the article at a path.

    >>> _title("A/We_Didn't_See_a_Thing")
    "We Didn't See a Thing"
    """
    return " ".join(path.removeprefix(_FOLDER).replace("_", " ").split())


class _Reader(HTMLParser):
    """Collects the links of a page, and the text of its first paragraph that has some."""

    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.paragraph = ""
        self._words: list[str] | None = None
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.hrefs += [value for name, value in attrs if name == "href" and value]
        elif tag in ("style", "script", "sup"):
            self._hidden += 1
        elif tag == "p":
            self._end_paragraph()
            self._words = None if self.paragraph else []

    def handle_endtag(self, tag: str) -> None:
        if tag == "p":
            self._end_paragraph()
        elif tag in ("style", "script", "sup"):
            self._hidden = max(0, self._hidden - 1)

    def handle_data(self, data: str) -> None:
        if self._words is not None and not self._hidden:
            self._words.append(data)

    def _end_paragraph(self) -> None:
        if self._words is not None:
            self.paragraph = " ".join("".join(self._words).split())
        self._words = None
