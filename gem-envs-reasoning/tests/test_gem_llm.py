"""Reasoning Gym as gem-llm posed it, and its class."""

from __future__ import annotations

import importlib
import inspect

import pytest

import gem
from gem.compat._constants import TERMINAL_STATE
from gem.errors import BadArguments

pytest.importorskip("reasoning_gym", reason="the extra `tasks` is not installed")

BOX = "inside \\boxed{}"


def test_with_the_switch_the_prompt_asks_for_the_box_of_the_trainers_templates() -> None:
    as_ours, _ = gem.make("rg:letter_counting").reset(seed=3)
    as_theirs, _ = gem.make("rg:letter_counting", compat=True).reset(seed=3)

    assert "<answer>" in str(as_ours)
    assert BOX in str(as_theirs)
    assert "<answer>" not in str(as_theirs)


def test_with_the_switch_a_right_answer_in_a_box_ends_as_published() -> None:
    env = gem.make("rg:leg_counting", compat=True)
    env.reset(seed=3)
    solution = env.solve()
    assert solution is not None
    assert solution.startswith("\\boxed{")

    observation, reward, terminated, truncated, info = env.step(solution)
    assert (observation, reward) == (TERMINAL_STATE, 1.0)
    assert (terminated, truncated, info["correct"]) == (True, True, True)


def test_an_answer_that_no_box_holds_is_in_tags() -> None:
    env = gem.make("rg:bf", answer_form="boxed")
    env.reset(seed=3)

    assert (
        env.step("no answer").observation == "No answer was found. Expected one inside \\boxed{}."
    )
    assert env.sample_action()


def test_a_form_that_is_none_is_refused() -> None:
    with pytest.raises(BadArguments, match="answer_form"):
        gem.make("rg:leg_counting", answer_form="tags")


def test_a_mix_asks_for_the_box_too() -> None:
    mix = gem.make("rg:composite", compat=True, datasets=[{"name": "leg_counting"}])

    assert BOX in str(mix.reset(seed=1)[0])


def test_the_class_is_made_and_played_as_the_published_one() -> None:
    kind = importlib.import_module("gem.envs.reasoning_gym").ReasoningGymEnv
    assert list(inspect.signature(kind).parameters) == ["name", "size", "seed", "_"]

    one = kind("leg_counting", size=5, seed=7)
    other = kind("leg_counting", seed=7)
    first = one.reset()[0]
    assert BOX in first
    assert other.reset()[0] == first == one.reset(seed=7)[0]
    one.reset()
    assert one.step("\\boxed{x}")[2:4] == (True, True)
