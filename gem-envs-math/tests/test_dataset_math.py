from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gem
from gem import Snapshot
from gem.errors import BadArguments, DataError, MissingRequirement, OpaqueError
from gem_envs_math.answers import boxed
from gem_envs_math.dataset_math import DatasetMath

ROWS = [{"problem": f"What is {n} + 1000?", "answer": str(n + 1000)} for n in range(40)]
FIELDS = {"question": "problem"}
WriteRows = Callable[..., str]


@pytest.fixture
def write_rows(tmp_path: Path) -> WriteRows:
    """Return a function that writes rows as JSONL and returns the file's path."""

    def write(rows: Sequence[Mapping[str, Any]], name: str = "rows.jsonl") -> str:
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def env() -> DatasetMath:
    return DatasetMath(grader="number", data=ROWS, fields=FIELDS)


def test_a_task_is_the_row_of_its_number(env: DatasetMath) -> None:
    observation, info = env.reset(task=7)
    assert str(observation).startswith("What is 7 + 1000?\n\n")
    assert info == {"task": 7}


def test_the_prompt_says_what_is_graded(env: DatasetMath) -> None:
    observation, _ = env.reset(task=7)
    assert "\\boxed{}" in str(observation)


def test_every_row_is_a_task(env: DatasetMath) -> None:
    observations = {env.reset(task=task)[0] for task in range(env.num_tasks or 0)}
    assert len(observations) == len(ROWS)


@pytest.mark.parametrize("task", [-1, 40])
def test_a_task_outside_the_set_is_refused(env: DatasetMath, task: int) -> None:
    with pytest.raises(ValueError, match="there are 40"):
        env.reset(task=task)


def test_the_seed_picks_the_task(env: DatasetMath) -> None:
    picked = [env.reset(seed=seed)[1]["task"] for seed in range(100)]
    again = [
        DatasetMath(grader="number", data=ROWS, fields=FIELDS).reset(seed=seed)[1]["task"]
        for seed in range(100)
    ]
    assert picked == again
    assert len(set(picked)) > 20


@pytest.mark.parametrize(
    ("action", "reward", "parts"),
    [
        (boxed("1007"), 1.0, {"answer": 1.0}),
        ("Surely " + boxed("1,007.0"), 1.0, {"answer": 1.0}),
        (boxed("1008"), 0.0, {"answer": 0.0}),
        ("1007", 0.0, {"format_error": 0.0}),
        (boxed("1007 apples"), 0.0, {"format_error": 0.0}),
    ],
)
def test_an_answer_is_graded_and_ends_the_task(
    env: DatasetMath, action: str, reward: float, parts: dict[str, float]
) -> None:
    env.reset(task=7)
    step = env.step(action)
    assert (step.reward, step.terminated, step.truncated) == (reward, True, False)
    assert (step.info["success"], step.info["task"]) == (reward == 1.0, 7)
    assert step.info["reward_parts"] == parts


@pytest.mark.parametrize("action", ["", boxed("1"), boxed("1 apple")])
def test_no_reply_tells_the_answer(env: DatasetMath, action: str) -> None:
    env.reset(task=7)
    assert "1007" not in str(env.step(action).observation)


def test_the_solution_is_the_gold_answer(env: DatasetMath) -> None:
    env.reset(task=7)
    assert env.solve() == boxed("1007")


def test_the_price_of_an_unreadable_answer_is_a_parameter() -> None:
    env = DatasetMath(grader="number", data=ROWS, fields=FIELDS, format_error_reward=-0.1)
    env.reset(seed=0)
    assert (env.step("").reward, env.reward_range) == (-0.1, (-0.1, 1.0))


def test_instances_over_one_file_share_one_table(write_rows: WriteRows) -> None:
    path = write_rows(ROWS)
    first, second = (gem.make("math:GSM8K", data=path).unwrapped for _ in range(2))
    assert isinstance(first, DatasetMath)
    assert isinstance(second, DatasetMath)
    assert first.table is second.table


def test_instances_over_one_list_share_it() -> None:
    first, second = (gem.make("math:GSM8K", data=ROWS).unwrapped for _ in range(2))
    assert isinstance(first, DatasetMath)
    assert isinstance(second, DatasetMath)
    assert first.table is second.table


def test_a_fork_shares_the_table_and_nothing_else(env: DatasetMath) -> None:
    env.reset(task=7)
    twin = env.fork()
    assert twin.table is env.table
    twin.step("")
    assert env.step(boxed("1007")).reward == 1.0


def test_a_snapshot_holds_no_row(env: DatasetMath) -> None:
    env.reset(task=7)
    text = env.snapshot().to_json()
    assert "What is" not in text
    assert "1007" not in text


def test_a_snapshot_continues_in_another_instance(write_rows: WriteRows) -> None:
    with gem.make("math:GSM8K", data=write_rows(ROWS)) as env:
        env.reset(task=7)
        saved = Snapshot.from_json(env.snapshot().to_json())
    assert saved.spec is not None
    with gem.make(saved.spec) as other:
        other.restore(saved)
        assert other.step(boxed("1007")).reward == 1.0


def test_a_table_in_memory_is_recorded_as_live(datasets: ModuleType) -> None:
    with gem.make("math:GSM8K", data=datasets.Dataset.from_list(ROWS)) as env:
        env.reset(task=7)
        assert env.step(boxed("1007")).reward == 1.0
        assert env.spec is not None
        with pytest.raises(OpaqueError, match="data"):
            gem.make(env.spec)


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_other_kinds_of_files_pose_the_same_tasks(
    datasets: ModuleType, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TQDM_DISABLE", "1")
    path = tmp_path / name
    rows = datasets.Dataset.from_list(ROWS)
    getattr(rows, f"to_{path.suffix[1:]}")(str(path))
    with (
        gem.make("math:GSM8K", data=str(path), seed=3) as env,
        DatasetMath(grader="number", data=ROWS, fields=FIELDS) as same,
    ):
        assert env.reset() == same.reset(seed=3)


def test_the_fields_of_a_file_can_be_named(write_rows: WriteRows) -> None:
    path = write_rows([{"question": "What is 9 + 9?", "answer": "9 + 9 = 18\n#### 18"}])
    with gem.make("math:GSM8K", data=path, fields={"question": "question"}) as env:
        env.reset()
        assert env.step(boxed("18")).reward == 1.0


def test_a_bad_file_is_refused_when_made(write_rows: WriteRows) -> None:
    path = write_rows([*ROWS, {"problem": "?", "answer": None}])
    with pytest.raises(DataError, match="row 41: the field 'answer' is None"):
        gem.make("math:GSM8K", data=path)


@pytest.mark.parametrize("data", [5, True, {"problem": "?"}])
def test_data_of_another_type_is_refused(data: Any) -> None:
    with pytest.raises(BadArguments, match="data"):
        gem.make("math:GSM8K", data=data)


def test_nothing_to_read_from_is_refused() -> None:
    with pytest.raises(BadArguments, match="data="):
        DatasetMath(grader="number")


def test_an_unknown_option_of_reset_is_refused(env: gem.Env) -> None:
    with pytest.raises(BadArguments, match=r"reset with level\. It takes seed and task;"):
        env.reset(level=3)


@pytest.mark.skipif(find_spec("datasets") is not None, reason="the extra `data` is installed")
def test_without_the_extra_the_answer_is_the_pip_command(write_rows: WriteRows) -> None:
    with pytest.raises(MissingRequirement, match='pip install "datasets>='):
        gem.make("math:GSM8K")
    with pytest.raises(MissingRequirement, match='pip install "datasets>='):
        gem.make("math:GSM8K", data=write_rows([], "rows.parquet"))
