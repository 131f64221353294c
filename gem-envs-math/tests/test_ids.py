"""Every id over a data set, on rows of the schema that its data set has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gem
from gem.errors import DataError
from gem_envs_math.plugin import plugin

pytestmark = pytest.mark.usefixtures("math_verify")

SETS = {spec.id: spec for spec in plugin.envs if "source" in spec.kwargs}
ANSWERS = {
    "number": ["18", "1,024", "-3/4"],
    "math": ["18", r"\frac{\pi}{2}", r"(1,\infty)", "east"],
}
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(params=SETS)
def env(request: pytest.FixtureRequest, tmp_path: Path) -> gem.Env:
    spec = SETS[request.param]
    fields = {"question": "question", "answer": "answer", **spec.kwargs["source"]["fields"]}
    answers = ANSWERS[spec.kwargs.get("grader", "math")]
    rows = [
        {fields["question"]: f"What is {at}?", fields["answer"]: answer, "images": ["figure.png"]}
        for at, answer in enumerate(answers)
    ]
    if spec.id == "math:Geometry3K":
        (tmp_path / "figure.png").write_bytes(PNG)
        for row in rows:
            row["images"] = [str(tmp_path / "figure.png")]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return gem.make(spec.id, data=str(path), seed=0)


def test_gold_answers_are_right_and_no_answer_is_not(env: gem.Env) -> None:
    for task in range(env.num_tasks or 0):
        env.reset(task=task)
        assert env.step(str(env.solve())).info["success"]
        env.reset(task=task)
        assert env.step("").info["verdict"] == "unreadable"


def test_the_gold_of_another_row_is_wrong(env: gem.Env) -> None:
    env.reset(task=0)
    solution = str(env.solve())
    env.reset(task=1)
    assert env.step(solution).info["verdict"] == "wrong"


def test_the_prompt_says_where_the_answer_goes(env: gem.Env) -> None:
    observation, info = env.reset(task=1)
    assert "What is 1?" in str(observation)
    assert "\\boxed{}" in str(observation)
    assert info == {"task": 1}


@pytest.mark.parametrize("env_id", SETS)
def test_rows_of_another_schema_are_refused_by_their_field(env_id: str) -> None:
    with pytest.raises(DataError, match="there is no field"):
        gem.make(env_id, data=[{"text": "?"}])
