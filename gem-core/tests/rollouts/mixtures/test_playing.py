"""A mixture as an environment: its limits, rewards and tools are those of what is played."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import gem
from gem.content import Observation
from gem.env import Env
from gem.env._step import Step
from gem.rollouts._mixtures import Mixture
from gem.testing import check_env

from .envs import COIN, ECHO, GUESS, SLOW, Slow, mixture


@pytest.mark.slow
def test_a_mixture_keeps_every_rule_of_an_environment() -> None:
    report = check_env(mixture(), seeds=range(10), backends=["sync", "thread", "process"])

    assert [line for line in report.lines if line.state == "failed"] == []


def test_tools_prompts_and_limits_are_those_of_the_component_that_is_played() -> None:
    with Mixture(envs=[{"env": "test:Slow"}, {"env": GUESS, "weight": 0}]) as env:  # type: ignore[list-item]
        before = (env.tools, env.rewrites_history, env.prompt_is_finished, env.max_turns)
        env.reset(seed=0)
        after = (env.tools, env.rewrites_history, env.prompt_is_finished, env.max_turns)

    assert before == ((), False, False, 4)
    assert after == (Slow.tools, True, True, 2)


def test_without_one_limit_there_is_none_and_single_turns_are_all() -> None:
    gem.register("test:Endless", Endless)
    with gem.make(mixture({"env": ECHO}, {"env": COIN})) as short:
        assert (short.single_turn, short.max_turns) == (True, 1)
        short.reset(seed=0)
        assert short.single_turn
    with Mixture(envs=[{"env": "test:Endless"}, {"env": ECHO}]) as long:  # type: ignore[list-item]
        assert (long.single_turn, long.max_turns) == (False, None)


class Endless(Env):
    """Without a limit."""


def test_the_range_of_rewards_spans_those_of_the_components() -> None:
    with gem.make(mixture()) as env:
        assert env.reward_range == (-0.1, 1.0)
    gem.register("test:Vain", Vain)
    with gem.make(mixture({"env": ECHO}, {"env": gem.spec("test:Vain")})) as env:
        assert env.reward_range == (0.0, 5.0)


class Vain(Env):
    """Earns much, and says that it was no success."""

    reward_range = (0.0, 5.0)

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        return "vain", {}

    def step(self, action: str) -> Step:
        return Step("", 5.0, True, False, {"success": False})


def test_what_a_component_says_of_its_success_counts_before_its_return() -> None:
    gem.register("test:Vain", Vain)
    with gem.make(mixture({"env": gem.spec("test:Vain")})) as env:
        env.reset(seed=0)
        assert env.step("").info["success"] is False


def test_the_return_of_each_episode_is_counted_from_nought() -> None:
    strict = SLOW.model_copy(update={"success_return": 1.0})
    with gem.make(mixture({"env": strict})) as env:
        assert env.unwrapped.total == 0.0  # type: ignore[attr-defined]
        for seed in range(3):  # each earns 0.5
            env.reset(seed=seed)
            env.step("a")
            assert env.step("b").info["success"] is False


def test_a_component_that_waits_is_awaited() -> None:
    async def play(env: Env) -> list[Any]:
        started = await env.areset(seed=3)
        first, last = await env.astep("a"), await env.astep("b")
        await env.aclose()
        return [started, first, last]

    env = Mixture(envs=[{"env": "test:Slow"}])  # type: ignore[list-item]
    slow = env.component
    _, first, last = asyncio.run(play(env))

    assert "success" not in first.info
    assert last.info["success"] is True  # its return is 0.5, and it asks for no more
    assert isinstance(slow, Slow)
    assert slow.closed


def test_a_mixture_in_a_mixture_says_both() -> None:
    with gem.make(mixture({"env": mixture(), "name": "inner"})) as env:
        _, info = env.reset(seed=1)
        assert info["component"]["name"] == "inner"
        assert info["component"]["component"]["name"] in ("test:Guess", "test:Echo")
        assert env.sample_action() is not None
