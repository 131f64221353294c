"""`gem.envs.math_env.MathEnv`: as users of gem-llm make it, subclass it and walk its data."""

from __future__ import annotations

import importlib
import inspect
import multiprocessing
from typing import Any

import pytest

import gem
from gem.compat._constants import TERMINAL_STATE

pytest.importorskip("math_verify", reason="the extra `verify` is not installed")

ROWS = [{"problem": f"What is {k} + 1?", "answer": str(k + 1)} for k in range(5)]


def kind() -> Any:
    return importlib.import_module("gem.envs.math_env").MathEnv


def test_it_takes_what_the_published_one_took() -> None:
    assert list(inspect.signature(kind()).parameters) == [
        "dataset_name",
        "split",
        "dataset",
        "question_key",
        "answer_key",
        "seed",
        "use_mp",
        "_",
    ]


def test_a_question_stands_alone_and_its_episode_ends_as_published() -> None:
    env = kind()(dataset=ROWS, seed=1, use_mp=False)
    observation, _ = env.reset(idx=2)

    assert observation == "What is 2 + 1?"
    step = env.step("It is \\boxed{3}.")
    assert step[:4] == (TERMINAL_STATE, 1.0, True, True)
    assert step.info["correct"] is True
    env.reset(idx=2)
    assert env.step("\\boxed{4}").info["correct"] is False
    env.reset(task=0)
    assert env.step("1").reward == 0.0
    env.close()


def test_every_problem_comes_once_in_an_epoch() -> None:
    env = kind()(dataset=ROWS, seed=1)

    epochs = [[env.reset()[0] for _ in ROWS] for _ in range(3)]
    assert all(sorted(epoch) == sorted(row["problem"] for row in ROWS) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1
    assert kind()(dataset=ROWS, seed=1).reset() == env.reset(seed=1)


def test_data_may_be_named_by_split_and_have_other_fields() -> None:
    rows = [{"q": "1 + 1?", "a": 2}]
    env = kind()(dataset={"test": rows}, split="test", question_key="q", answer_key="a")

    assert env.reset()[0] == "1 + 1?"
    assert env.step("\\boxed{2}").reward == 1.0


class Trainers(importlib.import_module("gem.envs.math_env").MathEnv):  # type: ignore[misc]
    """A subclass with data of its own, which grades in a pool: as a trainer's is written."""

    def __init__(self, answer: str, **_: Any) -> None:
        gem.Env.__init__(self)
        self.seed = 0
        self.answer = answer
        self.mp_pool = multiprocessing.get_context("spawn").Pool(1)

    def reset(self, seed: int | None = None) -> Any:
        gem.Env.reset(self, seed)
        return "1 + 1?", {"env_instruction": ""}

    def step(self, action: str) -> Any:
        answer = importlib.import_module("gem.utils.parsing").extract_last_boxed_answer(action)
        graded = self.mp_pool.apply_async(self.check_correct, (answer, self.answer))
        return TERMINAL_STATE, float(graded.get(timeout=60)), True, True, {}


def test_a_subclass_may_bring_its_own_data_and_grade_in_another_process() -> None:
    gem.register("trainers_math", entry_point=Trainers)
    env: Any = gem.make(env_id="trainers_math", answer="2", mode="train")

    with env.mp_pool:
        assert env.reset(seed=3)[0] == "1 + 1?"
        assert env.step("\\boxed{2}") == (TERMINAL_STATE, 1.0, True, True, {})


def test_with_the_switch_every_problem_comes_once_in_an_epoch() -> None:
    env = gem.make("math:GSM8K", compat=True, data=ROWS, fields={"question": "problem"}, seed=3)
    order = [env.reset()[1]["task"] for _ in range(10)]

    assert sorted(order[:5]) == sorted(order[5:]) == [0, 1, 2, 3, 4]
    assert env.step("x")[2:4] == (True, True)
