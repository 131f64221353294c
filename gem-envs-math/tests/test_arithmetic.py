from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem
from gem.errors import BadArguments
from gem_envs_math.answers import boxed
from gem_envs_math.arithmetic import Arithmetic, value

GOLDEN = json.loads((Path(__file__).parent / "golden" / "arithmetic.json").read_text("utf-8"))
SEEDS = range(200)


def posed(seed: int, **kwargs: Any) -> tuple[str, Arithmetic]:
    env = Arithmetic(**kwargs)
    observation, _ = env.reset(seed=seed)
    return str(observation), env


@pytest.mark.parametrize("episode", GOLDEN, ids=lambda episode: f"seed {episode['seed']}")
def test_episodes_are_the_golden_ones(episode: dict[str, Any]) -> None:
    with gem.make("math:Arithmetic-v0", seed=episode["seed"], **episode["kwargs"]) as env:
        observation, info = env.reset()
        step = env.step(episode["action"])
        again = {
            "kwargs": episode["kwargs"],
            "seed": episode["seed"],
            "observation": observation,
            "info": info,
            "solution": env.solve(),
            "action": episode["action"],
            "step": list(step),
        }
    assert again == episode


@pytest.mark.parametrize("seed", range(20))
def test_the_solution_succeeds(seed: int) -> None:
    _, env = posed(seed)
    step = env.step(str(env.solve()))
    assert (step.reward, step.terminated, step.truncated) == (1.0, True, False)
    assert (step.info["verdict"], step.info["reward_parts"]) == ("right", {"answer": 1.0})


@pytest.mark.parametrize("seed", range(20))
def test_a_sampled_answer_is_read_and_wrong(seed: int) -> None:
    _, env = posed(seed)
    step = env.step(env.sample_action())
    assert (step.info["verdict"], step.info["reward_parts"]) == ("wrong", {"answer": 0.0})


def test_an_answer_that_cannot_be_read_says_what_was_expected() -> None:
    _, env = posed(0)
    step = env.step("I do not know.")
    assert (step.reward, step.terminated, step.truncated) == (0.0, True, False)
    assert step.info["action_error"] == "format"
    assert "\\boxed{}" in str(step.observation)


def test_the_price_of_an_unreadable_answer_is_a_parameter() -> None:
    _, env = posed(0, format_error_reward=-0.1)
    assert env.reward_range == (-0.1, 1.0)
    assert env.step("").reward == -0.1


@pytest.mark.parametrize("action", ["", "no box", boxed("0.5"), boxed("-999999999")])
def test_no_reply_tells_the_answer(action: str) -> None:
    _, env = posed(0)
    assert env.gold() not in str(env.step(action).observation)


@pytest.mark.parametrize("kwargs", [{}, {"num_terms": 2, "max_value": 10}])
def test_no_number_of_the_question_is_the_answer(kwargs: dict[str, Any]) -> None:
    for seed in SEEDS:
        observation, env = posed(seed, **kwargs)
        numbers = {int(text) for text in re.findall(r"\d+", observation)}
        assert not {int(env.gold()), -int(env.gold())} & numbers


def test_seeds_pose_different_questions() -> None:
    assert len({posed(seed)[0] for seed in SEEDS}) > 190


def test_parameters_shape_the_question() -> None:
    _, env = posed(5, num_terms=20, max_value=10, operators=("*",))
    numbers = [int(text) for text in env.expression.split(" * ")]
    assert len(numbers) == 20
    assert set(numbers) <= set(range(1, 11))


@pytest.mark.parametrize("operators", [["+"], ["-"], ["*"], ["+", "+", "*"]])
@pytest.mark.parametrize("num_terms", [2, 20])
def test_every_choice_of_operators_has_questions(operators: list[str], num_terms: int) -> None:
    kwargs: dict[str, Any] = {"operators": operators, "num_terms": num_terms, "max_value": 10}
    with gem.make("math:Arithmetic-v0", seed=1, **kwargs) as env:
        env.reset()
        assert env.step(str(env.solve())).reward == 1.0


@pytest.mark.parametrize(
    "kwargs",
    [
        *({"num_terms": 1}, {"num_terms": 21}, {"max_value": 9}, {"max_value": 10**7}),
        *({"operators": []}, {"operators": ["/"]}, {"operators": "+"}, {"num_terms": "3"}),
        *({"format_error_reward": 0.5}, {"format_error_reward": -2}, {"terms": 3}),
    ],
)
def test_a_parameter_out_of_its_limits_is_named(kwargs: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match=next(iter(kwargs))):
        gem.make("math:Arithmetic-v0", **kwargs)


def test_a_direct_call_checks_its_limits_too() -> None:
    with pytest.raises(BadArguments, match=r"operators.*one or more of \+, -, \*"):
        Arithmetic(operators=())


def test_there_is_no_finite_set_of_tasks() -> None:
    with pytest.raises(TypeError, match="no finite set"):
        Arithmetic().reset(task=0)


def test_an_unknown_option_of_reset_is_refused() -> None:
    env: gem.Env = Arithmetic()

    with pytest.raises(BadArguments, match=r"reset with level\. It takes seed and task;"):
        env.reset(level=3)


expressions = st.lists(st.integers(1, 10**6), min_size=2, max_size=20).flatmap(
    lambda numbers: st.tuples(
        st.just(numbers),
        st.lists(st.sampled_from("+-*"), min_size=len(numbers) - 1, max_size=len(numbers) - 1),
    )
)


@given(expressions)
def test_values_are_those_of_python(expression: tuple[list[int], list[str]]) -> None:
    numbers, operators = expression
    written = str(numbers[0]) + "".join(map("{}{}".format, operators, numbers[1:]))
    assert value(numbers, operators) == eval(written)  # noqa: S307 - numbers and + - * alone
