"""Read what a `/retrieve` server answers. Knows nothing about how it was asked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from gem.content import normalise_text
from gem_tools.search.documents import title_and_text
from gem_tools.search.hits import Hit

__all__ = ["MalformedHitsError", "read_reply"]


class MalformedHitsError(Exception):
    """A reply of another form; the text says what is wrong with it."""


def read_reply(body: bytes, queries: int) -> list[list[Hit]]:
    """Return the hits of each query, as many lists as there were queries.

    Documents may have a `title` and a `text`, or `contents` whose first line is the title.
    """
    try:
        plain = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MalformedHitsError("it is no JSON") from error
    result = plain.get("result") if isinstance(plain, dict) else None
    if not isinstance(result, list):
        raise MalformedHitsError("it has no list named 'result'")
    if len(result) != queries:
        raise MalformedHitsError(f"it answers {len(result)} queries, and {queries} were asked")
    return [_hits(plain_hits) for plain_hits in result]


def _hits(plain_hits: Any) -> list[Hit]:
    if not isinstance(plain_hits, list):
        raise MalformedHitsError("what it found for a query is no list")
    return [_hit(hit) for hit in plain_hits]


def _hit(plain_hit: Any) -> Hit:
    document = plain_hit.get("document", plain_hit) if isinstance(plain_hit, Mapping) else None
    if not isinstance(document, Mapping):
        raise MalformedHitsError("one of its documents is no object")
    title = document.get("title", "")
    text = document.get("text")
    if text is None and isinstance(document.get("contents"), str):
        title, text = title_and_text(document["contents"])
    if not isinstance(title, str) or not isinstance(text, str):
        raise MalformedHitsError("one of its documents has no text")
    id = document.get("id", "")
    if isinstance(id, bool) or not isinstance(id, (str, int)):
        raise MalformedHitsError("one of its documents has an id that is no string")
    return Hit(
        normalise_text(str(id)),
        _score(plain_hit),
        normalise_text(" ".join(title.split())),
        normalise_text(text),
    )


def _score(plain_hit: Mapping[str, Any]) -> float:
    score = plain_hit.get("score", 0.0)
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        raise MalformedHitsError("one of its scores is no number")
    try:
        number = float(score)
    except OverflowError:  # an integer that no float holds
        number = math.inf
    if not math.isfinite(number):
        raise MalformedHitsError("one of its scores is no number")
    return number
