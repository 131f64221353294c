"""The pages of a MediaWiki, by its action API."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from random import Random
from string import ascii_uppercase

from pydantic import BaseModel, Field, ValidationError

from gem_envs_games.wiki_game.backend import Page, is_nameable
from gem_envs_games.wiki_game.server import WikiServer

__all__ = ["MediaWiki"]

_KEPT = 512
_MOST_LINKS = 500
_MOST_PARTS = 20
_LONGEST_SUMMARY = 1000
_TRIES = 10
_Params = dict[str, "str | int"]
_FORMAT: _Params = {"format": "json", "formatversion": 2}
_SOME_TITLES: _Params = {
    "list": "allpages",
    "apnamespace": 0,
    "apfilterredir": "nonredirects",
    "aplimit": 50,
}
_A_PAGE: _Params = {
    "redirects": 1,
    "prop": "links|extracts",
    "plnamespace": 0,
    "pllimit": "max",
    "exintro": 1,
    "explaintext": 1,
}


class _Title(BaseModel):
    title: str
    ns: int = 0


class _Found(_Title):
    missing: bool = False
    invalid: bool = False
    extract: str = ""
    links: list[_Title] = []


class _Query(BaseModel):
    pages: list[_Found] = []
    allpages: list[_Title] = []


class _Error(BaseModel):
    code: str = ""
    info: str = ""


class _Reply(BaseModel):
    """What `api.php` says, `formatversion=2`; what is not read is left out."""

    query: _Query = _Query()
    error: _Error | None = None
    more: dict[str, str | int] = Field(default={}, alias="continue")


class MediaWiki:
    """The articles of a MediaWiki, such as Wikipedia. `url` is the address of its `api.php`.

    A page has its first 500 links to articles, by title. A link may lead to a page never
    written, or to another title. `random_title` draws three letters, and then one of the 50
    articles that follow them in the wiki's order: while the wiki does not change a seed draws
    the same page, which `list=random` would not. The last 512 pages are kept. Titles in another
    script than Latin all come after every draw, so of such a wiki only a few are drawn.
    """

    def __init__(self, url: str, *, timeout_s: float = 10.0, retries: int = 2) -> None:
        self._server = WikiServer(url, timeout_s=timeout_s, retries=retries)
        self._page = lru_cache(_KEPT)(self._fetched)

    def page(self, title: str) -> Page | None:
        return self._page(title)

    def random_title(self, rng: Random) -> str:
        for _ in range(_TRIES):
            start = "".join(rng.choices(ascii_uppercase, k=3)).capitalize()
            reply = self._asked({"apfrom": start, **_SOME_TITLES})
            titles = [page.title for page in reply.query.allpages if is_nameable(page.title)]
            if titles:
                return rng.choice(titles)
        raise self._server.broken(f"no articles, asked {_TRIES} times for some")

    def close(self) -> None:
        self._server.close()

    def _fetched(self, title: str) -> Page | None:
        parts: list[_Found] = []
        more: _Params = {}
        for _ in range(_MOST_PARTS):
            reply = self._asked({**more, "titles": title, **_A_PAGE})
            parts += reply.query.pages[:1]
            more = reply.more
            if not more or sum(len(part.links) for part in parts) >= _MOST_LINKS:
                break
        return _joined(parts)

    def _asked(self, params: Mapping[str, str | int]) -> _Reply:
        answer = self._server.get("", {**params, "action": "query", **_FORMAT})
        if answer is None:
            raise self._server.broken("status 404")
        try:
            reply = _Reply.model_validate_json(answer.text)
        except ValidationError as error:
            raise self._server.broken("this is not what MediaWiki's action API says") from error
        if reply.error is not None:
            raise self._server.broken(f"{reply.error.code}: {reply.error.info}")
        return reply


def _joined(parts: list[_Found]) -> Page | None:
    """Return the page whose links came in several parts, None where it is no page."""
    if not parts or parts[0].missing or parts[0].invalid or not is_nameable(parts[0].title):
        return None
    links = (link.title for part in parts for link in part.links if link.ns == 0)
    nameable = dict.fromkeys(link for link in links if is_nameable(link))
    summary = next((part.extract for part in parts if part.extract), "")[:_LONGEST_SUMMARY]
    nameable.pop(parts[0].title, None)
    return Page(parts[0].title, summary, tuple(nameable)[:_MOST_LINKS])
