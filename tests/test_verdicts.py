"""A verdict is the same wherever it is asked for, and one grader serves the whole program."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import gem

pytest.importorskip("math_verify", reason="gem-envs-math's extra `verify` is not installed")

from gem_envs_math.judging import judge, pool

INTEGRAL = r"\int_0^1 \sin(t) dt"
ENDLESS = r"\sum_{k=1}^{10^{12}} \cos(k)"
PAIRS = [  # answer, gold; the later ones are asked of math-verify
    *(("4", "4"), ("5", "4"), ("", "4"), ("((((", "4"), ("9^{9^{9^9}}", "4"), ("99999999!", "4")),
    *(("1" * 3000, "4"), (r"\frac{1}{2}", "0.5"), ("east", "West"), ("\ufffd", "4")),
    *((r"\frac{1}{2}", INTEGRAL), (r"1 - \cos(1)", INTEGRAL), (r"\int_0^1 \sin(u) du", INTEGRAL)),
    *((ENDLESS.replace("cos", "sin"), ENDLESS), (r"\sum_{k=1}^{3} k", r"\sum_{j=1}^{3} j")),
]

BACKENDS: list[tuple[str, dict[str, Any]]] = [
    ("inline", {}),
    ("thread", {}),
    *(("process", {"start_method": how}) for how in ("fork", "forkserver", "spawn")),
    ("ray", {}),
]


@pytest.fixture(scope="module")
def expected() -> list[tuple[str, str]]:
    """Return the verdict on each answer, asked for in the main thread."""
    return [(outcome, how) for outcome, how in (judge(*pair) for pair in PAIRS)]


@pytest.fixture
def rows(tmp_path: Path) -> str:
    """Return a folder with a file for each pair, of one row that has its gold."""
    for at, (_, gold) in enumerate(PAIRS):
        row = json.dumps({"problem": "What is it?", "answer": gold})
        (tmp_path / f"{at}.jsonl").write_text(f"{row}\n", encoding="utf-8")
    return str(tmp_path)


def test_verdicts_of_threads_are_those_of_the_main_one(expected: list[tuple[str, str]]) -> None:
    with ThreadPoolExecutor(8) as threads:
        again = list(threads.map(lambda pair: tuple(judge(*pair)), PAIRS * 2))
    assert again == expected * 2
    assert {outcome for outcome, _ in expected} >= {"right", "wrong", "unreadable", "undecided"}


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "options"), BACKENDS, ids=str)
def test_verdicts_of_a_backend_are_those_of_the_main_thread(
    backend: str,
    options: dict[str, Any],
    rows: str,
    expected: list[tuple[str, str]],
    request: pytest.FixtureRequest,
) -> None:
    if backend == "ray":
        request.getfixturevalue("ray")
    server = pool.stats()["server"]
    spec = gem.spec("math:Math12K")
    specs = [
        spec.model_copy(update={"kwargs": {**spec.kwargs, "data": f"{rows}/{at}.jsonl"}})
        for at in range(len(PAIRS))
    ]
    workers: dict[str, Any] = {} if backend == "inline" else {"num_workers": 2}
    with gem.make_vec(
        specs, backend=backend, backend_options=options, autoreset="off", **workers
    ) as vector:
        vector.reset()
        infos = vector.step([rf"\boxed{{{answer}}}" for answer, _ in PAIRS]).infos
    assert [(info["verdict"], info["how"]) for info in infos] == expected
    facts = pool.stats()
    assert facts["server"] == server
    assert len(facts["workers"]) <= 4
