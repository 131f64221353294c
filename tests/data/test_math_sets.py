"""Every row of the local mathematical data sets, posed and graded; and hostile answers."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import gem

pytestmark = pytest.mark.slow

Asked = tuple[int, "str | None"]
"""A task, and what is answered; None: the solution."""

OURS = {"question": "problem", "answer": "answer"}
SETS = {
    "GSM8K, train": ("math:GSM8K", "gsm8k/train.jsonl", 7473),
    "GSM8K, test": ("math:GSM8K", "gsm8k/test.jsonl", 1319),
    "SVAMP": ("math:SVAMP", "svamp/test.jsonl", 1000),
    "MATH train 4,500": ("math:Math12K", "math_train4500/train.jsonl", 4500),
    "MATH500": ("eval:MATH500", "math500/test.jsonl", 500),
}
ALIKE = {  # one number, in two notations that the rules take for one: see docs/grading.md
    (r"\boxed{x = -1}", r"\boxed{-1}"),
    (r"\boxed{x=5}", r"\boxed{5}"),
    (r"\boxed{120}", r"\boxed{120^\circ}"),
    (r"\boxed{\frac34}", r"\boxed{\frac{3}{4}}"),
}
HOSTILE = (
    *("9^{{9^{{9^{0}}}}}", "({0}^8)!", "{0}!!!!!!", r"\binom{{10^{{{0}}}}}{{10^{{{0}}}-7}}"),
    *(r"\sum_{{k=1}}^{{10^{{12}}+{0}}} \frac{{1}}{{k}}", r"\zeta(\zeta(\zeta({0})))"),
    *(r"\int_0^{{\infty}} \frac{{\sin(x)^{{{0}}}}}{{x^{0}}} dx", "__import__('os')._exit({0})"),
)

OPEN = [  # whose answers, though right, only math-verify can judge
    {"problem": rf"\gcd(6, {n})", "answer": rf"\gcd({n}, 6)"} for n in range(3, 103)
]
ENDLESS = r"\sum_{{k=1}}^{{10^{{12}}}} \{0}({1} k)"
STUCK = [{"problem": f"Sum {n}?", "answer": ENDLESS.format("cos", n)} for n in range(12)]


@pytest.fixture(scope="module", autouse=True)
def _graders() -> None:
    pytest.importorskip("math_verify", reason="gem-envs-math's extra `verify` is not installed")


@pytest.fixture(params=SETS)
def env(request: pytest.FixtureRequest, local_data: Path) -> gem.Env:
    env_id, file, count = SETS[request.param]
    env = gem.make(env_id, data=str(local_data / file), fields=OURS)
    assert env.num_tasks == count
    return env


def verdicts(env: gem.Env, answer: Callable[[gem.Env, int], str]) -> list[str]:
    """Answer every task, and return the verdicts."""
    told = []
    for task in range(env.num_tasks or 0):
        env.reset(task=task)
        told.append(env.step(answer(env, task)).info["verdict"])
    return told


def test_every_gold_answer_is_right(env: gem.Env) -> None:
    told = verdicts(env, lambda env, _: str(env.solve()))
    assert [task for task, verdict in enumerate(told) if verdict != "right"] == []


def test_no_answer_is_no_answer(env: gem.Env) -> None:
    assert set(verdicts(env, lambda *_: "")) == {"unreadable"}


def test_the_gold_of_another_row_is_right_only_where_it_is_the_same(env: gem.Env) -> None:
    golds = []
    for task in range(env.num_tasks or 0):
        env.reset(task=task)
        golds.append(str(env.solve()))
    others = [_different(golds, task) for task in range(len(golds))]
    told = verdicts(env, lambda _, task: others[task])
    taken = [(others[task], golds[task]) for task, verdict in enumerate(told) if verdict == "right"]
    assert set(taken) <= ALIKE


def _different(golds: list[str], task: int) -> str:
    """Return the gold of the first later row that is written in another way."""
    return next(
        golds[(task + step) % len(golds)]
        for step in range(1, len(golds))
        if golds[(task + step) % len(golds)] != golds[task]
    )


def test_hostile_answers_among_good_ones_of_many_environments_lose_nothing(
    local_data: Path,
) -> None:
    from gem_envs_math.judging import pool

    _, file, count = SETS["MATH train 4,500"]
    lines = (local_data / file).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines] + OPEN + STUCK
    good: list[Asked] = [(task % count, None) for task in range(8900)]
    good += [(count + task, OPEN[task]["problem"]) for task in range(len(OPEN))]
    bad: list[Asked] = [
        (task, HOSTILE[task % len(HOSTILE)].format(task % 40 + 9)) for task in range(900)
    ]
    stuck = count + len(OPEN)
    bad += [(stuck + task % len(STUCK), ENDLESS.format("sin", task % 12)) for task in range(100)]
    asked = random.Random(0).sample([*good, *bad], 10_000)
    expected = dict.fromkeys(good, True) | dict.fromkeys(bad, False)
    unlike: list[tuple[Asked, Any]] = []

    def work(waiting: Iterator[Asked], turn: threading.Lock) -> None:
        env = gem.make("math:Math12K", data=rows)
        while True:
            with turn:
                each = next(waiting, None)
            if each is None:
                return
            task, answer = each
            env.reset(task=task)
            step = env.step(str(env.solve()) if answer is None else rf"\boxed{{{answer}}}")
            if step.info["success"] != expected[each]:
                unlike.append((each, step.info))

    waiting = iter(asked)
    turn = threading.Lock()
    with ThreadPoolExecutor(64) as threads:
        for done in [threads.submit(work, waiting, turn) for _ in range(64)]:
            done.result()
    assert unlike == []
    assert len(pool.stats()["workers"]) <= 4
    assert pool.stats()["started"] >= 12
