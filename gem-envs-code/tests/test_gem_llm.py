"""`gem.envs.code_env.CodeEnv`: as users of gem-llm make it and subclass it."""

from __future__ import annotations

import importlib
import inspect
import json
from typing import Any

import pytest

from gem.compat._constants import TERMINAL_STATE

TESTS = json.dumps({"inputs": ["1\n", "2\n"], "outputs": ["1\n", "2\n"]})
ROWS = [{"problem": f"Print the input, problem {k}.", "tests": TESTS} for k in range(3)]
ECHO = "```python\nprint(input())\n```"


def kind() -> Any:
    return importlib.import_module("gem.envs.code_env").CodeEnv


def test_it_takes_what_the_published_one_took() -> None:
    assert list(inspect.signature(kind()).parameters) == [
        "dataset_name",
        "split",
        "dataset",
        "question_key",
        "test_key",
        "seed",
        "max_workers",
        "max_tests",
        "verbose",
        "sandbox_type",
        "_",
    ]


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize(
    ("action", "reward", "correct"),
    [(ECHO, 1.0, True), ("```python\nprint(2)\n```", 0.0, False), ("none", -0.1, False)],
)
def test_an_episode_ends_as_published(action: str, reward: float, correct: bool) -> None:
    env = kind()(dataset=ROWS, dataset_name="taco", sandbox_type="none")
    env.reset(task=1)

    step = env.step(action)
    assert step[:4] == (TERMINAL_STATE, reward, True, True)
    assert step.info["correct"] is correct


@pytest.mark.usefixtures("sandbox")
def test_every_problem_comes_once_in_an_epoch() -> None:
    env = kind()(dataset={"train": ROWS}, seed=1)

    order = [env.reset()[1]["task"] for _ in range(6)]
    assert sorted(order[:3]) == sorted(order[3:]) == [0, 1, 2]


@pytest.mark.usefixtures("sandbox")
def test_a_subclass_grades_as_it_likes() -> None:
    class Trainers(kind()):  # type: ignore[misc]
        def step(self, action: str) -> Any:
            extract = importlib.import_module("gem.utils.parsing").extract_code_from_model
            program = extract(action)
            is_right = program is not None and self._check_correct(program)
            return TERMINAL_STATE, float(is_right), True, True, {"valid": program is not None}

    env = Trainers(dataset=ROWS)
    env.reset(seed=3)
    assert env.step(ECHO) == (TERMINAL_STATE, 1.0, True, True, {"valid": True})
    env.reset()
    assert env.step("none") == (TERMINAL_STATE, 0.0, True, True, {"valid": False})
