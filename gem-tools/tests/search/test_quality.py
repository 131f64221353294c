"""How many of the relevant documents are among the first five, on the committed corpus.

`python benchmarks/search.py` prints the figures themselves.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from gem_tools.search import open_index

BuildsIndex = Callable[..., Path]

QUERIES = Path(__file__).with_name("queries.jsonl")
ENGINES = pytest.mark.parametrize("engine", ["tantivy", "bm25s"])


def recall(folder: Path) -> dict[str, float]:
    """Return the mean recall at 5 of each kind of query, and of all."""
    asked: list[dict[str, Any]] = [json.loads(line) for line in QUERIES.read_text().splitlines()]
    found = open_index(folder).search([question["query"] for question in asked], 5)
    parts = defaultdict(list)
    for asked_question, hits in zip(asked, found, strict=True):
        share = len({hit.id for hit in hits} & {*asked_question["relevant"]}) / len(
            asked_question["relevant"]
        )
        parts[asked_question["kind"]].append(share)
        parts["all"].append(share)
    return {kind: fmean(shares) for kind, shares in parts.items()}


@ENGINES
def test_most_of_what_is_relevant_is_found(index_of: BuildsIndex, engine: str) -> None:
    found = recall(index_of(engine))

    assert found["all"] >= 0.83
    assert found["plain"] >= 0.95
    assert found["distractors"] >= 0.95


@ENGINES
def test_other_forms_of_a_word_are_found_by_the_language(
    index_of: BuildsIndex, engine: str
) -> None:
    with_endings = recall(index_of(engine))["forms"]

    assert with_endings >= 0.8
    assert with_endings >= recall(index_of(engine, "none"))["forms"] + 0.1
