"""The tool `search` over an index, a server, and whatever else can search."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gem.content import ToolResult
from gem.errors import BadArguments
from gem.tools import ToolContext, answer
from gem_tools.search import Hit, SearchIndexError, SearchTool

BuildsIndex = Callable[..., Path]


class Shelf:
    """Finds the same documents for every query, and notes what it was asked."""

    def __init__(self, *hits: Hit) -> None:
        self.hits = list(hits)
        self.asked = list[tuple[list[str], int]]()
        self.is_open = True

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        self.asked.append((list(queries), k))
        return [self.hits[:k] for _ in queries]

    def close(self) -> None:
        self.is_open = False


def call(tool: SearchTool, arguments: Mapping[str, Any]) -> ToolResult:
    async def main() -> ToolResult:
        try:
            return await answer(tool, arguments, ToolContext("c1", timeout_s=tool.timeout_s))
        finally:
            await tool.aclose()

    return asyncio.run(main())


def test_it_shows_documents_with_their_ids(index_of: BuildsIndex) -> None:
    result = call(SearchTool(str(index_of()), k=2), {"query": "glass flute"})

    assert result == ToolResult(
        "c1",
        "[1] document d074: Glass flute\n"
        "The glass flute is played at funerals in Lisk. It is broken after the burial.\n\n"
        "[2] document d075: Glassworks of Ferrow\n"
        "The glassworks of Ferrow use white sand from the Anse. They make flutes, lamps and "
        "lenses.",
    )
    assert result.meta == {"documents": ["d074", "d075"]}


def test_a_server_answers_as_its_index_does(index_of: BuildsIndex, server: Any) -> None:
    local = SearchTool(str(index_of()))
    remote = SearchTool(server.url)

    assert call(local, {"query": "comet"}) == call(remote, {"query": "comet"})


def test_it_says_when_nothing_matches(index_of: BuildsIndex) -> None:
    for query in ("", "qqqq", "\x00"):
        result = call(SearchTool(str(index_of())), {"query": query})

        assert (result.content, result.is_error) == ("No document matches. Try other words.", False)


@pytest.mark.parametrize(
    "arguments", [{}, {"query": 3}, {"query": None}, {"query": ["a"]}, {"query": "a", "k": 9}]
)
def test_other_arguments_are_an_error_to_read(arguments: dict[str, Any]) -> None:
    result = call(SearchTool(Shelf()), arguments)

    assert result.is_error
    assert result.content == (
        "search cannot be called with these arguments: it takes 'query', a string, and nothing "
        "else."
    )


def test_a_server_that_fails_is_an_error_to_read(stub: Any) -> None:
    server = stub(lambda _: (400, b"out of order"))

    result = call(SearchTool(server.url), {"query": "goose"})

    assert result.is_error
    assert "out of order" in result.content


def test_a_server_that_hangs_is_an_error_at_the_deadline(stub: Any) -> None:
    server = stub(None)

    result = call(SearchTool(server.url, timeout_s=0.05), {"query": "goose"})

    assert (result.is_error, result.meta["error"]) == (True, "timeout")


@pytest.mark.parametrize("most", [1, 10, 100, 500, 10_000])
def test_an_answer_keeps_within_its_characters(most: int) -> None:
    hits = [Hit(str(number), 1.0, "A title", "long " * 1000) for number in range(5)]
    tool = SearchTool(Shelf(*hits), k=5, max_characters=most)

    result = call(tool, {"query": "x"})

    assert len(result.content) <= most
    assert "cut" not in result.meta


def test_a_long_document_leaves_room_for_the_others() -> None:
    long = Hit("a", 2.0, "Long", "x" * 9000)
    short = Hit("b", 1.0, "Short", "the end")

    content = call(SearchTool(Shelf(long, short), max_characters=1000), {"query": "x"}).content

    assert content.endswith("x [cut]\n\n[2] document b: Short\nthe end")


def test_a_short_document_leaves_its_room_to_the_others() -> None:
    short = Hit("a", 2.0, "", "x")
    long = Hit("b", 1.0, "", "y" * 900)

    content = call(SearchTool(Shelf(short, long), max_characters=1000), {"query": "x"}).content

    assert content.count("y") == 900


def test_queries_of_one_time_are_searched_together() -> None:
    shelf = Shelf(Hit("a", 1.0, "", "x"))
    tool = SearchTool(shelf, k=4)

    async def main() -> None:
        calls = (tool.call({"query": str(number)}, ToolContext()) for number in range(5))
        await asyncio.gather(*calls)

    asyncio.run(main())

    assert shelf.asked == [(["0", "1", "2", "3", "4"], 4)]


def test_its_schema_is_in_the_openai_form() -> None:
    schema = SearchTool(Shelf(), name="look_up", description="Look up.").schema()

    assert json.loads(json.dumps(schema)) == {
        "type": "function",
        "function": {
            "name": "look_up",
            "description": "Look up.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string", "description": "words to look for"}},
                "required": ["query"],
                "additionalProperties": False,
            },
        },
    }


def test_equal_calls_have_equal_answers() -> None:
    assert SearchTool.is_pure
    assert not SearchTool.keeps_sessions


def test_what_it_was_given_is_left_open() -> None:
    shelf = Shelf()

    call(SearchTool(shelf), {"query": "x"})

    assert shelf.is_open


def test_a_folder_without_an_index_is_noticed_at_once(tmp_path: Any) -> None:
    with pytest.raises(SearchIndexError, match="no whole search index"):
        SearchTool(str(tmp_path))


@pytest.mark.parametrize("k", [0, 1001, "3"])
def test_a_number_of_hits_that_is_none_is_refused(k: Any) -> None:
    with pytest.raises(BadArguments, match="from 1 to 1000"):
        SearchTool(Shelf(), k=k)
