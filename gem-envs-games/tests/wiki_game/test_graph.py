"""The bundled pages, and distances between them."""

from __future__ import annotations

import importlib.util
import json
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.errors import DataError
from gem_envs_games.wiki_game import Graph, Page, bundled

from .loopback import page_of

TOOL = Path(__file__).parents[2] / "tools" / "make_wiki_pages.py"


def test_the_pages_are_what_the_tool_makes_of_its_text() -> None:
    spec = importlib.util.spec_from_file_location("make_wiki_pages", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)

    made = tool.pages(tool.SOURCE.read_text(encoding="utf-8"))

    shipped = files("gem_envs_games.wiki_game").joinpath("pages.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == made
    tool.require_reachable(made)


def test_every_page_reaches_every_other_in_8_links() -> None:
    titles = bundled().distances_from("Knowledge")

    assert len(titles) > 600
    for title in titles:
        distances = bundled().distances_from(title)
        assert len(distances) == len(titles)
        assert max(distances.values()) <= 8


def test_every_page_says_what_it_is_in_two_sentences_at_most() -> None:
    pages = [page_of(title) for title in bundled().distances_from("Knowledge")]

    assert {len(page.summary) < 200 and page.summary.endswith(".") for page in pages} == {True}
    assert max(len(page.links) for page in pages) <= 30
    assert {len(set(page.links)) == len(page.links) for page in pages} == {True}
    assert {len(page.names) == len(page.links) for page in pages} == {True}


@given(st.data())
def test_distances_are_what_trying_every_way_gives(data: st.DataObject) -> None:
    names = "ABCDEFG"
    links = {
        name: tuple(data.draw(st.lists(st.sampled_from(names), unique=True, max_size=3)))
        for name in names
    }
    graph = Graph(Page(name, "", links[name]) for name in names)

    def steps(start: str, avoided: str) -> dict[str, int]:
        found = {start: 0}
        last = {start}
        count = 0
        while last:
            count += 1
            inner = [title for title in last if title not in avoided or title == start]
            last = {link for title in inner for link in links[title]} - set(found)
            found.update(dict.fromkeys(last, count))
        return found

    avoided = data.draw(st.sampled_from(["", "B", "BC"]))
    expected = {start: found["A"] for start in names if "A" in (found := steps(start, avoided))}
    assert graph.distances_to("A", avoided) == expected
    assert graph.distances_from("A") == steps("A", "")


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        ([Page("A", "", ("B",))], "'A' links to 'B', no page"),
        ([Page("A", "", ()), Page("A", "", ())], "two share a title"),
        ([Page("a}b", "", ())], "'a}b' cannot be named in a box"),
        ([], "there are none"),
    ],
)
def test_a_graph_of_broken_pages_is_refused(pages: list[Page], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        Graph(pages)
