from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, DataError
from gem.testing import registrations_undone

pytestmark = pytest.mark.usefixtures("sandbox")

ROWS: list[dict[str, Any]] = [
    {
        "question": "Print the double.",
        "tests": {"inputs": ["1", "2"], "outputs": ["2", "4"]},
        "solution": "print(2 * int(input()))",
    },
    {
        "question": "Add one.",
        "tests": ["assert inc(1) == 2", "assert inc(5) == 6"],
        "solution": "def inc(n): return n + 1",
    },
    {
        "question": "Turn it round.",
        "tests": {"fn_name": "turn", "inputs": [["ab"]], "outputs": ["ba"]},
        "solution": "def turn(text): return text[::-1]",
    },
    {
        "question": 'def half(n):\n    """Halve."""\n',
        "tests": "def check(candidate):\n    assert candidate(4) == 2\n",
        "function": "half",
        "given": 'def half(n):\n    """Halve."""\n',
        "solution": "    return n // 2\n",
    },
]


def made(**given: Any) -> gem.Env:
    from gem_envs_code.problem import CodeProblem

    return CodeProblem(data=ROWS, **{"time_limit_s": 30, **given})


@pytest.mark.parametrize("task", range(4))
def test_the_solution_succeeds_and_the_form_is_stated(task: int) -> None:
    env = made()
    observation, info = env.reset(task=task)
    says = ["reads from stdin", "inc(1)", "function named turn", "function half"][task]
    action = env.solve()
    assert action is not None

    step = env.step(action)

    assert step.reward == 1.0
    assert step.info["success"]
    assert (step.terminated, step.truncated) == (True, False)
    assert says in str(observation)
    assert "```python" in str(observation)
    assert info == {"task": task}


def test_a_question_shows_the_first_assertion_and_no_other() -> None:
    text = str(made().reset(task=1)[0])

    assert "inc(1) == 2" in text
    assert "inc(5)" not in text
    assert "inc(5) == 6" in str(made(shown_tests=2).reset(task=1)[0])
    assert "inc(1)" not in str(made(shown_tests=0).reset(task=1)[0])


def test_a_problem_without_a_solution_has_no_gold() -> None:
    from gem_envs_code.problem import CodeProblem

    env = CodeProblem(data=[{"question": "?", "tests": {"inputs": [""], "outputs": ["1"]}}])
    env.reset(task=0)

    assert env.solve() is None


def test_an_answer_without_code_is_a_format_error() -> None:
    env = made(format_error_reward=-0.1)
    env.reset(task=0)

    step = env.step("print(2 * int(input()))")

    assert step.reward == -0.1
    assert step.info["action_error"] == "format"
    assert step.info["reward_parts"] == {"format_error": -0.1}
    assert not step.info["success"]
    assert env.reward_range == (-0.1, 1.0)


@pytest.mark.parametrize(
    "given",
    [
        {"format_error_reward": 0.1},
        {"time_limit_s": 0},
        {"time_limit_s": float("nan")},
        {"memory_mb": 1},
        {"max_output_bytes": 0},
        {"max_tests": 0},
        {"shown_tests": -1},
    ],
)
def test_a_limit_that_makes_no_sense_is_refused_with_its_bounds(given: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match="between"):
        made(**given)


def test_an_unknown_option_of_reset_is_refused() -> None:
    with pytest.raises(BadArguments, match="seed and task"):
        made().reset(seed=1, level=3)


def test_without_data_the_error_says_what_to_give() -> None:
    from gem_envs_code.problem import CodeProblem

    with pytest.raises(BadArguments, match="data="):
        CodeProblem()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"question": ""}, "question"),
        ({"tests": ["assert ("]}, "tests"),
        ({"solution": 3}, "solution"),
        ({"comparison": "fuzzy"}, "comparison"),
        ({"tolerance": -1}, "tolerance"),
        ({"tolerance": "1"}, "tolerance"),
        ({"shared_process": "yes"}, "shared_process"),
    ],
)
def test_a_row_that_does_not_fit_is_named(change: dict[str, Any], field: str) -> None:
    from gem_envs_code.problem import CodeProblem

    with pytest.raises(DataError, match=f"row 2.*{field}"):
        CodeProblem(data=[ROWS[0], {**ROWS[0], **change}])


def test_a_file_of_ones_own_becomes_an_environment(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mine.jsonl"
    row = {"task": "Print 2.", "cases": {"inputs": [""], "outputs": ["2"]}}
    path.write_text(json.dumps(row), encoding="utf-8")
    fields = {"question": "task", "tests": "cases"}

    with registrations_undone():
        gem.register(
            "code:Mine", "gem_envs_code.problem:CodeProblem", data=str(path), fields=fields
        )
        with gem.make("code:Mine", seed=0) as env:
            env.reset()
            assert env.step("```python\nprint(2)\n```").info["success"]


def test_instances_share_one_table() -> None:
    assert made().table is made().table  # type: ignore[attr-defined]


@pytest.mark.parametrize("backend", ["sync", "thread", "process"])
def test_verdicts_are_equal_on_every_backend(backend: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    answers = ["print(2 * int(input()))", "def inc(n): return n", "turn = reversed", "1 / 0"]
    expected = ["passed", "wrong", "wrong", "error"]
    given: dict[str, Any] = {"data": str(path), "fields": {"question": "question"}}
    given["time_limit_s"] = 30  # all twelve are graded at once

    with gem.make_vec("code:CodeContest", num_envs=12, seed=0, backend=backend, **given) as envs:
        tasks = [info["task"] for info in envs.reset()[1]]
        step = envs.step([f"```python\n{answers[task]}\n```" for task in tasks])

    assert set(tasks) == {0, 1, 2, 3}
    found = [info["final_info"]["tests"][0] for info in step.infos]
    assert found == [expected[task] for task in tasks]


STREAMS = {"inputs": ["1\n", "2\n"], "outputs": ["2\n", "4\n"]}
CALLS = {"fn_name": "f", "inputs": [[1], [2]], "outputs": [[2], [4]]}
ONE_BY_ONE = [
    {"type": "stdin_stdout", "fn_name": None, "input": "1\n", "output": "2\n"},
    {"type": "stdin_stdout", "fn_name": None, "input": "2\n", "output": "4\n"},
]


@pytest.mark.parametrize(
    ("id", "tests"),
    [
        ("code:CodeContest", STREAMS),
        ("eval:CodeContest", STREAMS),
        ("code:Taco8k", json.dumps(STREAMS)),
        ("code:Taco8k", json.dumps(CALLS)),
        ("code:PrimeIntellect15k", json.dumps(ONE_BY_ONE)),
        ("code:PrimeIntellect15k", ONE_BY_ONE),
    ],
)
def test_rows_of_the_schema_that_an_id_has_elsewhere_are_graded(id: str, tests: Any) -> None:
    rows = [{"problem": "Double it.", "tests": tests}]
    right = "def f(n): return 2 * n\nif __name__ == '__main__': print(f(int(input())))"

    with gem.make(id, data=rows, time_limit_s=30) as env:
        env.reset(task=0)
        assert env.step(f"```python\n{right}\n```").reward == 1.0
        env.reset(task=0)
        assert env.step("```python\nprint(2)\n```").reward == 0.0
