"""The tool `search`: a policy asks with words and reads the documents that match best."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Union

from gem import MicroBatch
from gem.content import ToolResult
from gem.errors import BadArguments
from gem.tools import Tool, ToolContext
from gem_tools.search.hits import Hit, SearchIndex, check_search
from gem_tools.search.opening import is_address, open_index

__all__ = ["SearchTool"]

_MOST_TOGETHER = 64


class SearchTool(Tool):
    """Search an index, and answer with its `k` best documents, each cited by its id.

    `index` is a folder of `gem-env build-search`, the address of a `/retrieve` server, or
    anything with `search` (or a coroutine function `asearch`). What was named by a string is
    opened here and closed with `aclose`. Queries that are asked at the same time are answered
    together. `max_characters` bounds the whole answer: a document that is longer than its share
    is cut, and none is left out.
    """

    is_pure = True
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "words to look for"}},
        "required": ["query"],
        "additionalProperties": False,
    }

    def __init__(
        self,
        index: Union[str, SearchIndex],
        *,
        k: int = 3,
        name: str = "search",
        description: str = "Search a collection of documents. Returns the best matches.",
        max_characters: int = 8_000,
        timeout_s: float | None = 30.0,
    ) -> None:
        check_search([], k)
        self.name = name
        self.description = description
        self.k = k
        self.max_characters = max_characters
        self.timeout_s = timeout_s
        self._owned = _opened(index) if isinstance(index, str) else None
        self._ask = _asking(index if self._owned is None else self._owned)

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Search. `meta["documents"]` has the ids. Raises BadArguments and SearchUnavailable."""
        query = arguments.get("query")
        if not isinstance(query, str) or len(arguments) != 1:
            raise BadArguments(
                f"{self.name} cannot be called with these arguments: it takes 'query', a string, "
                "and nothing else.",
                subject=self.name,
            )
        hits = await self._ask(query, self.k)
        return ToolResult(
            context.call_id,
            shown(hits, self.max_characters),
            meta={"documents": [hit.id for hit in hits]},
        )

    async def aclose(self) -> None:
        """Close the index if this tool opened it."""
        owned: Any = self._owned
        if hasattr(owned, "aclose"):
            await owned.aclose()
        elif owned is not None:
            owned.close()


def shown(hits: Sequence[Hit], max_characters: int) -> str:
    """Return what a policy reads of the hits, in at most `max_characters`.

    >>> print(shown([Hit("17", 1.5, "Orrery", "A model of planets.")], 100))
    [1] document 17: Orrery
    A model of planets.
    """
    if not hits:
        return "No document matches. Try other words."
    left = max_characters
    texts = []
    for number, hit in enumerate(hits, 1):
        text = f"[{number}] document {hit.id}: {hit.title}\n{hit.text.strip()}"
        share = max(left // (len(hits) - number + 1) - 2, 0)  # two for what separates them
        texts.append(_cut(text, share))
        left -= len(texts[-1]) + 2
    return "\n\n".join(texts)[:max_characters]


def _cut(text: str, most: int) -> str:
    mark = " [cut]"
    return text if len(text) <= most else (text[: max(most - len(mark), 0)] + mark)[:most]


def _opened(where: str) -> SearchIndex:
    if is_address(where):
        from gem_tools.search.retrieve_client import RetrieveClient

        return RetrieveClient(where)
    return open_index(where)


def _asking(index: Any) -> Callable[[str, int], Awaitable[list[Hit]]]:
    """Return a coroutine function of one query, whichever form the index has."""
    if hasattr(index, "asearch"):
        asearch: Callable[[str, int], Awaitable[list[Hit]]] = index.asearch
        return asearch

    def search(pairs: list[tuple[str, int]]) -> list[list[Hit]]:
        hit_lists: list[list[Hit]] = index.search([query for query, _ in pairs], pairs[0][1])
        return hit_lists

    batches: Any = MicroBatch(search, max_batch=_MOST_TOGETHER, max_wait_s=0)  # type: ignore[arg-type]
    return lambda query, k: batches((query, k))
