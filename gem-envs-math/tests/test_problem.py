"""What an environment makes of a verdict."""

from __future__ import annotations

from typing import Any

import pytest

import gem
from gem.errors import BadArguments
from gem_envs_math.answers import boxed
from gem_envs_math.dataset_math import DatasetMath

pytestmark = pytest.mark.usefixtures("math_verify")

ROWS = [
    {"question": "Which point is it?", "answer": r"\left( 3, \frac{\pi}{2} \right)"},
    {"question": "What is the integral of cos?", "answer": r"\sin(x) + \log(\cos(y))"},
]
NEVER = r"\sum_{k=1}^{10^{12}} \sin(k)"  # left open by `decide`: only its gold has a sum too
HARD = [{"question": "What is the sum?", "answer": r"\sum_{k=1}^{10^{12}} \cos(k)"}]


def graded(action: str, task: int = 0, **kwargs: Any) -> gem.Step:
    env = DatasetMath(data=ROWS, **kwargs)
    env.reset(task=task)
    return env.step(action)


@pytest.mark.parametrize(
    ("action", "verdict", "reward"),
    [
        (boxed(r"(3, \frac{\pi}{2})"), "right", 1.0),
        (boxed(r"(3,\pi/2)"), "right", 1.0),
        ("First " + boxed("1") + ", no: " + boxed(r"(3,\pi/2)"), "right", 1.0),
        (boxed(r"(\pi/2, 3)"), "wrong", 0.0),
        (boxed("3"), "wrong", 0.0),
        (r"(3,\pi/2)", "unreadable", -0.1),
        (boxed(""), "unreadable", -0.1),
        ("", "unreadable", -0.1),
    ],
)
def test_a_verdict_is_named_and_paid(action: str, verdict: str, reward: float) -> None:
    step = graded(action, format_error_reward=-0.1)
    assert (step.info["verdict"], step.reward) == (verdict, reward)
    assert step.info["success"] == (verdict == "right")
    assert (step.terminated, step.truncated) == (True, False)
    assert ("action_error" in step.info) == (verdict == "unreadable")


def test_the_record_says_what_was_read_and_what_is_right() -> None:
    info = graded("So: " + boxed(" (2, 1) ")).info
    assert (info["answer"], info["gold"], info["task"]) == ("(2, 1)", ROWS[0]["answer"], 0)
    assert info["how"]


def test_the_record_of_a_huge_answer_is_small() -> None:
    info = graded(boxed("1" * 1_000_000)).info
    assert len(str(info)) < 1000


@pytest.mark.slow
def test_an_answer_that_takes_too_long_is_undecided_and_pays_nothing() -> None:
    env = DatasetMath(data=HARD, format_error_reward=-0.1)
    env.reset(task=0)
    step = env.step(boxed(NEVER))
    assert (step.info["verdict"], step.info["how"]) == ("undecided", "too slow")
    assert (step.reward, step.terminated, step.info["success"]) == (0.0, True, False)
    assert "could not be judged" in str(step.observation)


def test_what_is_left_open_is_asked_of_math_verify() -> None:
    step = graded(boxed(r"\log(\cos(y)) + \sin(x)"), task=1)
    assert step.info["verdict"] == "right"


def test_the_prompt_asks_for_a_box_and_for_a_number_only_where_it_must_be_one() -> None:
    any_answer, _ = DatasetMath(data=ROWS).reset(task=0)
    number, _ = DatasetMath(data=[{"question": "?", "answer": 1}], grader="number").reset(task=0)
    assert "\\boxed{}" in str(any_answer)
    assert "\\boxed{}" in str(number)
    assert ("number" in str(number), "number" in str(any_answer)) == (True, False)


@pytest.mark.parametrize("task", range(len(ROWS)))
def test_the_solution_succeeds(task: int) -> None:
    env = DatasetMath(data=ROWS)
    env.reset(task=task)
    assert env.step(str(env.solve())).info["success"]


def test_a_grader_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadArguments, match="grader"):
        gem.make("eval:MATH500", data=ROWS, grader="exact")
