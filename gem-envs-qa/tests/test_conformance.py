from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest

from gem.testing import EnvContract

OPEN = [
    {"question": f"Which city has the number {n}?", "answer": [f"City {n * 37}", f"{n * 37}th"]}
    for n in range(100)
]
CHOSEN = [
    {
        "context": f"There are {n} red and {n * 7 % 13} green stones.",
        "question": "Of which are there more?",
        "options": ["A) red", "B) green", "C) neither", "D) nobody knows"],
        "answer": "ABC"[(n < n * 7 % 13) + 2 * (n == n * 7 % 13)],
    }
    for n in range(100)
]
RULES = [{"question": f"Is {n} even?", "answer": str(n % 2 == 0)} for n in range(100)]


@pytest.fixture(scope="class")
def made_with_a_file(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("data") / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, request.cls.rows)), encoding="utf-8")
    request.cls.env_kwargs = {**request.cls.env_kwargs, "data": str(path)}


@pytest.mark.usefixtures("made_with_a_file")
class _OnAFile(EnvContract):
    backends = ("sync", "thread")  # all four are one class or two: Worlds meet processes
    rows: ClassVar[Sequence[Mapping[str, Any]]]


class TestOpenQuestions(_OnAFile):
    env_id = "eval:QaOpen"
    rows = OPEN


@pytest.mark.slow
class TestOpenQuestionsByF1InABox(_OnAFile):
    env_id = "eval:Musique"
    env_kwargs: ClassVar[Mapping[str, Any]] = {
        "metric": "f1",
        "answer_form": "boxed",
        "format_error_reward": -0.1,
    }
    rows = OPEN


class TestOptions(_OnAFile):
    env_id = "logic:FOLIO"
    rows = CHOSEN


class TestTruths(_OnAFile):
    env_id = "logic:RuleTaker-d3"
    rows = RULES


class TestWorlds(EnvContract):
    env_id = "qa:Worlds-v0"
    backends = ("sync", "thread", "process")


@pytest.mark.slow
class TestDeepAndSmallWorlds(EnvContract):
    env_id = "qa:Worlds-v0"
    backends = ("sync", "thread")
    env_kwargs: ClassVar[Mapping[str, Any]] = {
        "hops": 4,
        "entities": 40,
        "worlds": "eval",
        "num_worlds": 3,
        "k": 5,
    }
