"""What a search takes and returns, whatever does the searching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from gem.content import normalise_text
from gem.errors import BadArguments

__all__ = ["Hit", "SearchIndex", "check_search", "plain_query"]

MOST_HITS = 1000
MOST_CHARACTERS = 4096
MOST_WORDS = 64
QUESTION_WORDS = (
    "can",
    "could",
    "did",
    "do",
    "does",
    "had",
    "has",
    "have",
    "how",
    "should",
    "what",
    "when",
    "where",
    "which",
    "who",
    "whom",
    "whose",
    "why",
    "would",
)
"""English words that only make a query a question. They count as stop words do: not at all."""


class Hit(NamedTuple):
    """A document that was found. `score` is only comparable within one query's hits."""

    id: str
    score: float
    title: str
    text: str


class SearchIndex(Protocol):
    """Finds documents by words. Safe to call from several threads at once."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return up to `k` hits for each query, the best first; it blocks.

        A query is plain text without any syntax, whatever its characters. One that holds no
        word finds nothing. The first 4096 characters count, and of them the first 64 words.
        Raises BadArguments unless `k` is 1 to 1000, and SearchUnavailable where a server fails.
        """
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


def check_search(queries: Sequence[str], k: int) -> None:
    """Raise BadArguments on queries and a `k` that no index takes."""
    if isinstance(queries, str) or not all(isinstance(query, str) for query in queries):
        raise BadArguments(
            f"The queries {queries!r:.80} were asked for. Give a list of strings.",
            subject="queries",
        )
    if type(k) is not int or not 1 <= k <= MOST_HITS:
        raise BadArguments(
            f"k={k!r} hits were asked for. It is an int from 1 to {MOST_HITS}.", subject="k"
        )


def plain_query(query: str) -> str:
    r"""Return as much of a query as counts, fit to be encoded.

    >>> plain_query("cheese\ud800")
    'cheese\ufffd'
    """
    return normalise_text(query[:MOST_CHARACTERS])
