from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import gem
from gem import Env
from gem_envs_agents.desk.actions import write_call
from gem_envs_agents.desk.do_nothing import LEAVING
from gem_envs_agents.desk.tool import Call
from gem_envs_agents.tau.environment import Tau
from gem_envs_agents.users.proving import prove

FOLDERS = {
    "tau:Retail-2024": ("tau_retail", "tau_retail"),
    "tau:Airline-2024": ("tau_airline", "tau_airline"),
    "tau:Retail-v1.0.1": ("tau2_retail", "tau_retail"),
}


def make(id: str, local_data: Path, **kwargs: Any) -> Env:
    data, database = FOLDERS[id]
    folder = str(local_data / data)
    return gem.make(id, data=folder, database=str(local_data / database), **kwargs)


def published(env: Env) -> Tau:
    base = env.unwrapped
    assert isinstance(base, Tau)
    return base


def by_solution(env: Env, task: int, *, but: str = "") -> float:
    """Play the solution of a task, and return what it earns. `but` changes one thing."""
    env.reset(seed=1, task=task)
    base = published(env)
    if but == "a write beside":
        orders = base.published.tables["orders"]
        mine = {str(call.arguments.get("order_id")) for call in base.published.tasks[task].actions}
        other = next(
            key for key, order in orders.items() if order["status"] == "pending" and key not in mine
        )
        reason = {"order_id": other, "reason": "no longer needed"}
        assert not env.step(write_call(Call("cancel_pending_order", reason))).info.get(
            "action_error"
        )
    while True:
        action = str(env.solve())
        if but == "an output missing" and action.startswith("The answer is: "):
            action = "That is done. Is there anything else?"
        is_write = any(
            name in action and tool.writes for name, tool in base.agent_tools.items()
        ) and action.startswith("<tool_call>")
        if but == "a write missing" and is_write:
            return left_alone(env)
        if but == "reads beside" and action.startswith("The answer is: "):
            env.step(write_call(Call("think", {"thought": "?"})))
            env.step(write_call(Call("get_user_details", {"user_id": "nobody"})))
        step = env.step(action)
        if step.terminated or step.truncated:
            return step.reward


def left_alone(env: Env) -> float:
    while not (step := env.step(LEAVING)).terminated:
        pass
    return step.reward


@pytest.mark.parametrize(
    ("id", "tasks", "idle"),
    [("tau:Retail-2024", 115, 5), ("tau:Airline-2024", 50, 19), ("tau:Retail-v1.0.1", 114, 6)],
)
def test_the_solution_earns_all_and_doing_nothing_what_needs_nothing(
    id: str, tasks: int, idle: int, local_data: Path
) -> None:
    env = make(id, local_data)
    assert env.num_tasks == tasks
    assert sum(by_solution(env, task) for task in range(tasks)) == tasks
    earned = 0.0
    for task in range(tasks):
        env.reset(seed=1, task=task)
        earned += left_alone(env)
    assert earned == idle


def test_ten_of_the_corrected_tasks_have_no_writing_call(local_data: Path) -> None:
    env = make("tau:Retail-v1.0.1", local_data, reward="db")
    base = published(env)
    names = {name for name, tool in base.agent_tools.items() if tool.writes}
    reading = [
        number
        for number, task in enumerate(base.published.tasks)
        if not names & {call.name for call in task.actions}
    ]
    assert len(reading) == 10
    for task in reading:
        env.reset(seed=1, task=task)
        assert left_alone(env) == 1.0


@pytest.mark.parametrize(("split", "tasks"), [("test", 115), ("train", 500), ("dev", 20)], ids=str)
def test_splits_are_those_that_were_published(split: str, tasks: int, local_data: Path) -> None:
    env = make("tau:Retail-2024", local_data, split=split)
    assert env.num_tasks == tasks
    assert by_solution(env, 3) == 1.0


@pytest.mark.parametrize(("split", "tasks"), [("base", 114), ("train", 74), ("test", 40)], ids=str)
def test_corrected_splits_are_those_that_were_published(
    split: str, tasks: int, local_data: Path, tmp_path: Path
) -> None:
    # As it is published: the tables in one file, beside the tasks.
    tables = published(make("tau:Retail-v1.0.1", local_data)).published.tables
    (tmp_path / "db.json").write_text(json.dumps(tables), encoding="utf-8")
    for name in ("tasks.json", "split_tasks.json", "policy.md"):
        shutil.copy(local_data / "tau2_retail" / name, tmp_path)
    env = gem.make("tau:Retail-v1.0.1", data=str(tmp_path), split=split)
    ids = json.loads((tmp_path / "split_tasks.json").read_text(encoding="utf-8"))[split]
    assert env.num_tasks == tasks
    assert sorted(task.id for task in published(env).published.tasks) == sorted(ids)
    assert by_solution(env, tasks - 1) == 1.0


def test_a_missing_output_a_missing_write_and_an_extra_write_each_earn_nothing(
    local_data: Path,
) -> None:
    env = make("tau:Retail-2024", local_data)
    base = published(env)
    for task in range(20, 40):
        env.reset(task=task)
        case = base.case
        if case.outputs:
            assert by_solution(env, task, but="an output missing") == 0.0
            assert by_solution(env, task, but="reads beside") == 1.0
        assert by_solution(env, task, but="a write beside") == 0.0
        if case.goal.state != "{}":
            assert by_solution(env, task, but="a write missing") == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("id", FOLDERS)
def test_users_of_the_published_tasks_are_fair(id: str, local_data: Path) -> None:
    base = published(make(id, local_data))
    for number in range(0, len(base.published.tasks), 12):
        proof = prove(base.published.case(number).script._replace(patience=2))
        assert proof.faults == (), number
        assert proof.is_complete
