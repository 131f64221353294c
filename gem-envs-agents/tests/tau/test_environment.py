from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import gem
from gem import Env, Step
from gem.content import Action, ToolCall
from gem.errors import BadArguments
from gem_envs_agents.desk.actions import write_call
from gem_envs_agents.desk.tool import Call

from .small import RETAIL, write

FIND = {"name": "find_user_id_by_email", "kwargs": {"email": "ada@example.com"}}
CANCEL = {
    "name": "cancel_pending_order",
    "kwargs": {"order_id": "#W1", "reason": "no longer needed"},
}
TASKS = [
    {
        "id": 0,
        "user_id": "ada_1",
        "instruction": "You are Ada Berg, ada@example.com. You want to cancel #W1. You want to "
        "know how much you get back.",
        "actions": [FIND, CANCEL],
        "outputs": ["40"],
    },
    {
        "id": 1,
        "user_id": "ada_1",
        "instruction": "You are Ada Berg in 80001. You want to know if #W2 can be cancelled.",
        "actions": [FIND],
        "outputs": [],
    },
]
DONE = "That is done, and 40 dollars have been paid back. Is there anything else?"


@pytest.fixture
def env(tmp_path: Path) -> Env:
    """A shop with two tasks, of which the first was started."""
    made = gem.make("tau:Retail-2024", data=write(tmp_path, RETAIL, TASKS), max_turns=30)
    made.reset(seed=1, task=0)
    return made


def call(name: str, **arguments: Any) -> str:
    return write_call(Call(name, arguments))


def play(env: Env, *actions: str) -> Step:
    for action in actions:
        step = env.step(action)
    return step


WHO = "What is your email?"
PROPOSE = "I would cancel the order #W1. Shall I go ahead (yes/no)?"
LOOK = call("get_product_details", product_id="kettle")
RETURN = call(
    "return_delivered_order_items",
    order_id="#W2",
    item_ids=["k1"],
    payment_method_id="paypal_1",
)
DO = call("cancel_pending_order", order_id="#W1", reason="no longer needed")


def test_the_policy_comes_before_the_first_words_of_the_customer(env: Env) -> None:
    observation, info = env.reset(task=0)
    assert str(observation).startswith("# Policy")
    assert str(observation).endswith("Customer: Hello. I want to cancel an order.")
    assert (info["task"], info["task_id"]) == (0, "retail-2024/0")


def test_what_is_right_earns_one_and_only_at_the_end(env: Env) -> None:
    step = play(env, WHO, PROPOSE, DO)
    assert (step.reward, step.terminated) == (0.0, False)
    step = play(env, DONE, DONE)
    assert (step.reward, step.terminated, step.info["success"]) == (1.0, True, True)
    assert step.info["reward_parts"] == {"db": 1.0, "communicate": 1.0}


@pytest.mark.parametrize(
    ("actions", "db", "communicate"),
    [
        ([WHO, PROPOSE, DONE, DONE], 0.0, 1.0),
        ([WHO, PROPOSE, DO, "That is done. Anything else?", "Done."], 1.0, 0.0),
        ([WHO, PROPOSE, DO, RETURN, DONE, DONE], 0.0, 1.0),
        ([WHO, PROPOSE, DO.replace("no longer needed", "ordered by mistake"), DONE, DONE], 0, 1),
        ([WHO, PROPOSE, LOOK, DO, DONE, DONE], 1.0, 1.0),
    ],
    ids=["no write", "output missing", "extra write", "wrong write", "extra read"],
)
def test_each_part_is_earned_by_itself(
    env: Env, actions: list[str], db: float, communicate: float
) -> None:
    step = play(env, *actions)
    assert step.info["reward_parts"] == {"db": db, "communicate": communicate}
    assert step.reward == db * communicate


def test_the_state_alone_may_be_what_counts(tmp_path: Path) -> None:
    env = gem.make("tau:Retail-2024", data=write(tmp_path, RETAIL, TASKS), reward="db")
    env.reset(task=0)
    assert play(env, WHO, PROPOSE, DO, "Done.", "Done.").reward == 1.0


def test_only_the_customer_ends_the_dialogue(env: Env) -> None:
    assert not env.step("###STOP###").terminated
    assert not env.step("Goodbye. [The customer has left.]").terminated


def test_a_thought_is_not_heard(env: Env) -> None:
    assert "email" not in str(
        env.step("<think>What is your email?</think> One moment.").observation
    )


def test_a_message_beside_a_call_is_not_sent(env: Env) -> None:
    step = env.step(f"{WHO} {call('list_all_product_types')}")
    assert "Customer" not in str(step.observation)
    assert "Kettle" in str(step.observation)


def test_calls_beside_the_text_have_a_result_each(env: Env) -> None:
    calls = [ToolCall(f"c{n}", "get_order_details", {"order_id": f"#W{n}"}) for n in range(6)]
    observation: Any = env.step(Action("", tool_calls=tuple(calls))).observation
    assert [message.call_id for message in observation] == [f"c{n}" for n in range(6)]
    assert "not called" in observation[-1].content


@pytest.mark.parametrize(
    "action",
    [
        "",
        "x" * 5_000,
        "<tool_call>{</tool_call>",
        call("write_database", table="orders"),
        call("cancel_pending_order", order_id={"$set": 1}, reason="no longer needed"),
        call("cancel_pending_order", order_id="#W1", reason="no longer needed", user="x"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(env: Env, action: str) -> None:
    step = env.step(action)
    assert step.info["action_error"] in ("format", "invalid")
    assert play(env, WHO, PROPOSE, DO, DONE, DONE).reward == 1.0


def test_a_dialogue_that_is_cut_off_earns_nothing(tmp_path: Path) -> None:
    data = write(tmp_path, RETAIL, TASKS)
    env = gem.make("tau:Retail-2024", data=data, max_turns=3)
    env.reset(task=0)
    step = play(env, WHO, PROPOSE, DO)
    assert (step.truncated, step.reward, step.info["success"]) == (True, 0.0, False)


def test_a_saved_dialogue_goes_on_where_it_was(env: Env) -> None:
    play(env, WHO, PROPOSE)
    saved = gem.Snapshot.from_json(env.snapshot().to_json())
    first = play(env, DO, DONE, DONE)
    twin = gem.make(gem.EnvSpec.model_validate(saved.spec))
    twin.restore(saved)
    assert play(twin, DO, DONE, DONE) == first


def test_many_at_once_share_the_tables(tmp_path: Path) -> None:
    tables = json.loads(json.dumps(RETAIL))
    for number in range(2_000):
        tables["users"][f"u{number}"] = {**RETAIL["users"]["ada_1"], "email": f"u{number}@x.org"}
    data = write(tmp_path, tables, TASKS)
    gem.make("tau:Retail-2024", data=data).reset(task=0)
    tracemalloc.start()
    envs = [gem.make("tau:Retail-2024", data=data) for _ in range(64)]
    for env in envs:
        env.reset(task=0)
        play(env, WHO, PROPOSE, DO)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert size < 64 * 60_000  # bytes; the tables alone are more than a megabyte


def test_official_needs_a_judge_and_is_refused(tmp_path: Path) -> None:
    data = write(tmp_path, RETAIL, TASKS)
    with pytest.raises(BadArguments, match="needs a model as a judge"):
        gem.make("tau:Retail-v1.0.1", data=data, reward="official")


@pytest.mark.parametrize(
    ("kwargs", "why"),
    [
        ({}, "tau:Retail-2024 cannot be made: no data= was given"),
        ({"data": ".", "max_turns": 0}, "max_turns=0 is not 1 or more"),
        ({"data": ".", "reward": "kindness"}, "is none of 'db'"),
        ({"data": ".", "reward": "official"}, "that of the corrected tasks"),
        ({"data": ".", "judge": len}, "needs none"),
        ({"data": ".", "split": "secret"}, "and tau:Retail-2024 has test, train, dev"),
    ],
)
def test_what_cannot_be_made_says_why(kwargs: dict[str, Any], why: str) -> None:
    with pytest.raises(BadArguments, match=why):
        gem.make("tau:Retail-2024", **kwargs)


def test_the_published_python_files_are_read_and_not_run(tmp_path: Path) -> None:
    data = write(tmp_path, RETAIL, [])
    (tmp_path / "tasks_test.jsonl").unlink()
    source = """
raise SystemExit("this file was run")
TASKS_TEST = [
    Task(annotator="0", user_id="ada_1", instruction="You want to cancel #W1.",
         actions=[Action(name="cancel_pending_order",
                         kwargs={"order_id": "#W1", "reason": "no longer needed"})],
         outputs=["40"]),
]
"""
    (tmp_path / "tasks_test.py").write_text(source, encoding="utf-8")
    env = gem.make("tau:Retail-2024", data=data)
    env.reset(task=0)
    assert env.num_tasks == 1
    assert play(env, WHO, PROPOSE, DO, DONE, DONE).reward == 1.0
