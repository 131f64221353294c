"""The hooks of a wrapper: what passes through it, in every form, and what they may return."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

import gem
from gem._python.sync_async import wait_for
from gem.content import Observation
from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import ResetNeeded

from .layers import Echo, Loud, Started


class LateLoud(Wrapper):
    """Every hook, later."""

    async def on_reset(self, observation: Observation, info: dict[str, Any]) -> Started:
        await asyncio.sleep(0)
        return f"{observation}!", {**info, "loud": True}

    async def on_action(self, action: str) -> str | Step:
        await asyncio.sleep(0)
        return action.upper()

    async def on_step(self, action: str, step: Step) -> Step:
        await asyncio.sleep(0)
        return step._replace(observation=f"{step.observation} after {action}!")


def both_ways(env: Env) -> list[tuple[Started, Step]]:
    async def awaited() -> tuple[Started, Step]:
        return await env.areset(seed=1), await env.astep("a")

    return [(env.reset(seed=1), env.step("a")), asyncio.run(awaited()), wait_for(awaited())]


def test_a_wrapper_without_hooks_changes_nothing() -> None:
    plain = both_ways(Echo())
    assert both_ways(Wrapper(Echo())) == both_ways(Wrapper(Wrapper(Echo()))) == plain


def test_a_wrapper_that_was_not_given_its_environment_says_how() -> None:
    class Forgetful(Wrapper):
        def __init__(self, env: Env) -> None:
            self.limit = 3

    with pytest.raises(AttributeError, match=r"Forgetful has no environment yet\. .* super\(\)"):
        Forgetful(gem.make("gem.testing.envs:Echo")).reset(seed=0)


@pytest.mark.parametrize("wrapper", [Loud, LateLoud])
def test_hooks_change_what_passes_in_every_form(wrapper: type[Wrapper]) -> None:
    observation = Echo().reset(seed=1)[0]
    expected = (
        (f"{observation}!", {"loud": True}),
        Step("heard A after a!", 0.5, False, False, {}),
    )
    assert both_ways(wrapper(Echo())) == [expected] * 3


def test_layers_apply_from_the_outside_in_and_back() -> None:
    class Tag(Wrapper):
        def __init__(self, env: Env, tag: str) -> None:
            super().__init__(env)
            self.tag = tag

        def on_action(self, action: str) -> str:
            return f"{action}{self.tag}"

        def on_step(self, action: str, step: Step) -> Step:
            return step._replace(observation=f"{step.observation}{self.tag}")

    env = Tag(Tag(Echo(), "1"), "2")
    env.reset()
    assert env.step("a").observation == "heard a2112"


class Answers(Wrapper):
    """Answers "ask" itself, as a tool would."""

    def on_action(self, action: str) -> str | Step:
        if action == "ask":
            return Step("answered", 0.0, False, False, {})
        if action == "plain":
            return ("plainly", 0.0, False, False, {})  # type: ignore[return-value]
        return Step("stop", 0.0, True, False, {}) if action == "stop" else action


class LateAnswers(Answers):
    def on_action(self, action: str) -> Awaitable[str | Step]:  # type: ignore[override]
        async def answer() -> str | Step:
            return Answers.on_action(self, action)

        return answer()


@pytest.mark.parametrize("wrapper", [Answers, LateAnswers])
def test_a_step_from_on_action_leaves_the_inner_turn_where_it_is(wrapper: type[Wrapper]) -> None:
    env = wrapper(Echo())
    env.reset()
    assert env.step("ask").observation == "answered"
    assert env.step("plain") == Step("plainly", 0.0, False, False, {})
    assert asyncio.run(env.astep("ask")).observation == "answered"
    assert asyncio.run(env.astep("plain")).observation == "plainly"
    assert env.turn == 0
    assert env.said == ["start"]
    env.step("go")
    assert env.turn == 1


def test_a_step_from_on_action_may_end_the_episode() -> None:
    env = Answers(Echo())
    env.reset()
    assert env.step("stop").terminated
    with pytest.raises(ResetNeeded):
        env.step("go")


@pytest.mark.parametrize(
    ("hook", "complaint"),
    [
        ("on_action", "Silent.on_action returned NoneType. It must return the text of the action"),
        ("on_step", "Silent.on_step returned NoneType. It must return a Step"),
        ("on_reset", "Silent.reset returned NoneType. It must return an observation and a dict"),
    ],
)
def test_a_hook_that_returns_nothing_is_named(hook: str, complaint: str) -> None:
    class Silent(Wrapper):
        pass

    setattr(Silent, hook, lambda self, *given: None)

    def play() -> None:
        env = Silent(Echo())
        env.reset()
        env.step("a")

    async def play_in_coroutines() -> None:
        env = Silent(Echo())
        await env.areset()
        await env.astep("a")

    with pytest.raises(TypeError, match=complaint):
        play()
    with pytest.raises(TypeError, match=complaint):
        asyncio.run(play_in_coroutines())


def test_on_step_sees_the_action_that_this_layer_was_given() -> None:
    seen: list[str] = []

    class Watches(Loud):
        def on_step(self, action: str, step: Step) -> Step:
            seen.append(action)
            return step

    env = Watches(Echo())
    env.reset()
    env.step("a")
    assert seen == ["a"]


def test_a_hook_that_waits_cannot_be_called_on_the_background_loop() -> None:
    async def play() -> None:
        LateLoud(Echo()).reset()

    with pytest.raises(gem.GemError, match="background event loop"):
        wait_for(play())
