"""What is behind `gem.utils`: answers read out of text, seeds, episodes that are printed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("numpy", reason="gem-core's extra `vector` is not installed")

import numpy as np

from gem.compat._parsing import (
    extract_code_from_model,
    extract_last_boxed_answer,
    extract_last_tagged_answer,
    last_boxed_only_string,
    remove_boxed,
)
from gem.compat._vectors import AsyncVectorEnv, SyncVectorEnv
from gem.compat.gem_llm.utils.debug import (
    ppprint,
    run_and_print_episode,
    run_and_print_episode_async,
    run_and_print_episode_with_selective_step,
)
from gem.compat.gem_llm.utils.seeding import np_random, set_seed

from . import envs


@pytest.mark.parametrize(
    ("function", "text", "found"),
    [
        (extract_last_boxed_answer, r"\boxed{7} \boxed{x^{2}}", "x^{2}"),
        (extract_last_boxed_answer, "7", None),
        (extract_last_boxed_answer, None, None),
        (last_boxed_only_string, r"so \boxed{7}", r"\boxed{7}"),
        (last_boxed_only_string, "7", None),
        (remove_boxed, r"\boxed{7}", "7"),
        (remove_boxed, r"so \boxed{7}", None),
        (remove_boxed, None, None),
        (extract_last_tagged_answer, "<answer> a </answer> <answer>b</answer>", "b"),
        (extract_last_tagged_answer, "<answer>a</answer> or </answer>", "a"),
        (extract_last_tagged_answer, "<answer>a", None),
        (extract_last_tagged_answer, "a</answer>", None),
        (extract_code_from_model, "```python\na\n```\n```\nb\n```", "b"),
        (extract_code_from_model, "```python\na", None),
        (extract_code_from_model, None, None),
    ],
)
def test_an_answer_is_read_out_of_a_reply(
    function: Callable[[Any], Any], text: str | None, found: str | None
) -> None:
    assert function(text) == found


def test_a_seed_gives_a_generator_of_numpys() -> None:
    one, seed = np_random(3)

    assert seed == 3
    assert one.random() == np_random(3)[0].random()
    assert np_random()[1] != np_random()[1]


def test_the_process_wide_generators_are_seeded() -> None:
    before, before_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        drawn = []
        for _ in range(2):
            set_seed(7)
            drawn.append((random.random(), np.random.random()))  # noqa: NPY002
        assert drawn[0] == drawn[1]
        set_seed()
    finally:
        random.setstate(before)
        np.random.set_state(before_numpy)  # noqa: NPY002


def test_an_episode_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    run_and_print_episode(envs.Game(), lambda observation: "a")

    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if "Step" in line] == [
        "Step 1",
        "Step 2",
        "Step 3",
    ]
    assert "'Play plain.'" in printed
    assert "terminated:  False truncated:  True" in printed


def test_more_episodes_are_printed_until_there_are_steps_enough(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_and_print_episode(envs.Game(), lambda observation: "a", ignore_done=True, max_steps=5)
    asyncio.run(run_and_print_episode_async(envs.Game(), lambda observation: "a", True, 4))

    assert capsys.readouterr().out.count("Step") == 9


def test_a_policy_that_waits_and_a_vector_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    async def policy(observations: Any) -> list[str]:
        return ["a"] * 2

    makers = [envs.Game, envs.Game]
    with AsyncVectorEnv(["a", "b"], makers) as vector:
        asyncio.run(run_and_print_episode_async(vector, policy))
        asyncio.run(run_and_print_episode_async(vector, policy, True, 4))

    printed = capsys.readouterr().out
    assert printed.count("Step") == 7
    assert "[ True  True]" in printed


def test_some_of_a_vector_are_stepped_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with SyncVectorEnv(["a", "b"], [envs.Game, envs.Game]) as vector:
        run_and_print_episode_with_selective_step(vector, lambda observations: ["a", "b"])
        run_and_print_episode_with_selective_step(vector, lambda seen: ["a", "b"], True, 2)

    assert "next_observation" in capsys.readouterr().out


def test_a_value_is_printed_over_several_lines(capsys: pytest.CaptureFixture[str]) -> None:
    ppprint({"a": 1})
    assert capsys.readouterr().out == "{'a': 1}\n"
