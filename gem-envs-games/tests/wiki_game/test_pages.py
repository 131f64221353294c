"""What is read of a page, on MediaWiki and on Kiwix."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from .loopback import (
    BOOK,
    PART,
    Params,
    Reply,
    Wiki,
    action_api,
    as_json,
    kiwix_serve,
    links_of,
    summary_of,
)

pytest.importorskip("httpx", reason="the extra `wiki` is not installed")

from gem_envs_games.wiki_game.kiwix import Kiwix
from gem_envs_games.wiki_game.mediawiki import MediaWiki


def read(wiki: Wiki, title: str, **options: Any) -> tuple[str, str, tuple[str, ...]] | None:
    kiwix = wiki_backend(wiki, **options)
    page = kiwix.page(title)
    kiwix.close()
    return None if page is None else (page.title, page.summary, page.links)


def wiki_backend(wiki: Wiki, *, book: str | None = None, **options: Any) -> MediaWiki | Kiwix:
    return Kiwix(wiki.url, book, **options) if book else MediaWiki(wiki.url, **options)


def test_a_page_of_mediawiki_has_the_links_of_every_part(mediawiki: Wiki) -> None:
    page = read(mediawiki, "Nile")

    nameable = [link for link in links_of("Nile") if link != "A}b"]
    assert page == ("Nile", summary_of("Nile"), tuple(nameable))
    assert len(mediawiki.requests) == -(-len(links_of("Nile")) // PART)


def test_a_page_of_kiwix_has_the_links_that_stay_in_the_book(kiwix: Wiki) -> None:
    page = read(kiwix, "Nile", book=BOOK)

    nameable = [link for link in links_of("Nile") if link != "A}b"]
    assert page == ("Nile", summary_of("Nile"), tuple(nameable))


@pytest.mark.parametrize("book", [None, BOOK])
def test_a_redirect_leads_to_the_page_under_its_own_title(book: str | None) -> None:
    with Wiki(kiwix_serve if book else action_api) as wiki:
        page = read(wiki, "USA", book=book)

    assert page is not None
    assert page[0] == "United States"


@pytest.mark.parametrize("book", [None, BOOK])
@pytest.mark.parametrize("title", ["Never written", "../../etc/passwd", "?action=x", "A|B"])
def test_a_page_that_is_not_there_is_none(book: str | None, title: str) -> None:
    with Wiki(kiwix_serve if book else action_api) as wiki:
        assert read(wiki, title, book=book) is None


@pytest.mark.parametrize("book", [None, BOOK])
def test_a_title_with_odd_characters_is_found(book: str | None) -> None:
    with Wiki(kiwix_serve if book else action_api) as wiki:
        for title in ("Washington, D.C.", "Mercury (planet)", "Frédéric Chopin"):
            page = read(wiki, title, book=book)
            assert page is not None
            assert page[0] == title


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<a ",
        "<a href='",
        "<p>",
        "<!--",
        "</p",
        "&",
        "<script>",
        "<![CDATA[",
        "<![<",
        "x",
        "<sup>",
    ],
)
def test_hostile_pages_are_read_in_linear_time(piece: str) -> None:
    text = f"<p>Words.</p><a href='Nile'>{piece * (2**20 // len(piece))}"
    with Wiki(lambda path, params: (200, "text/html", text.encode())) as wiki:
        page = read(wiki, "Congo", book=BOOK, retries=0)

    assert page is not None
    assert page[:2] == ("Congo", "Words.")


def test_hostile_links_are_left_out_and_counted() -> None:
    titles = [f"Page {number}" for number in range(2000)]
    hostile = ["", "}", "\\boxed{Nile", "\u202ex", "a\nb", "x" * 256, "?"]
    links = [{"ns": 0, "title": title} for title in hostile + titles]
    found = {"query": {"pages": [{"title": "Congo", "extract": "E" * 9999, "links": links}]}}
    with Wiki(lambda path, params: as_json(found)) as wiki:
        page = read(wiki, "Congo")

    assert page is not None
    assert page[2] == tuple(titles[:500])


@pytest.mark.parametrize("name", ["titles", "self", "action", "params"])
def test_a_request_for_more_stays_a_request_for_links(name: str) -> None:
    part = {"title": "Congo", "links": [{"ns": 0, "title": "Nile"}]}
    asked: list[Params] = []

    def endless(path: str, params: Params) -> Reply:
        asked.append(params)
        return as_json({"query": {"pages": [part]}, "continue": {name: "delete"}})

    with Wiki(endless) as wiki:
        page = read(wiki, "Congo")

    assert page == ("Congo", "", ("Nile",))
    assert {(params["titles"], params["action"]) for params in asked} == {("Congo", "query")}


def test_links_without_an_end_are_cut() -> None:
    part = {"title": "Congo", "links": [{"ns": 0, "title": "Nile"}]}
    endless = {"query": {"pages": [part]}, "continue": {"plcontinue": "x"}}
    with Wiki(lambda path, params: as_json(endless)) as wiki:
        page = read(wiki, "Congo")

        assert page is not None
        assert len(wiki.requests) == 20


def test_draws_come_from_the_generator_alone(mediawiki: Wiki) -> None:
    wiki = MediaWiki(mediawiki.url)
    drawn = [wiki.random_title(Random(seed)) for seed in range(30)]
    again = [wiki.random_title(Random(seed)) for seed in range(30)]
    wiki.close()

    assert drawn == again
    assert len(set(drawn)) > 15
