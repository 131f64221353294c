"""The local copy of GSM8K, where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import gem

TASKS = {"test": 1319, "train": 7473}


@pytest.fixture(params=list(TASKS))
def env(request: pytest.FixtureRequest, gsm8k: Path) -> Iterator[gem.Env]:
    with gem.make("math:GSM8K", data=str(gsm8k / f"{request.param}.jsonl")) as env:
        assert env.num_tasks == TASKS[request.param]
        yield env


def test_every_gold_answer_is_right(env: gem.Env) -> None:
    failed = []
    for task in range(env.num_tasks or 0):
        env.reset(task=task)
        if not env.step(str(env.solve())).info["success"]:
            failed.append(task)
    assert failed == []


def test_no_empty_answer_is_right(env: gem.Env) -> None:
    for task in range(env.num_tasks or 0):
        env.reset(task=task)
        assert not env.step("").info["success"]


def test_tasks_are_distinct(env: gem.Env) -> None:
    observations = {str(env.reset(task=task)[0]) for task in range(env.num_tasks or 0)}
    assert len(observations) == env.num_tasks
