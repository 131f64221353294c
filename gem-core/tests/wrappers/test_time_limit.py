"""`time_limit`: it truncates, and never terminates."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import gem
from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import BadArguments, ResetNeeded
from gem.wrappers._time_limit import TimeLimit

MakeEnv = Callable[..., Env]


class Tool(Wrapper):
    """Answer every action but "go" in the environment's place."""

    def on_action(self, action: str) -> str | Step:
        return action if action == "go" else Step("looked up", 0.0, False, False, {})


def test_the_last_action_is_truncated_and_the_one_before_is_not(say: MakeEnv) -> None:
    env = TimeLimit(say(), 2)
    env.reset()

    assert env.step("a")[2:4] == (False, False)
    assert env.step("b")[2:4] == (False, True)


def test_a_truncated_episode_is_over(say: MakeEnv) -> None:
    env = TimeLimit(say(), 1)
    env.reset()
    env.step("a")

    with pytest.raises(ResetNeeded):
        env.step("b")


def test_an_episode_that_terminates_at_the_limit_is_not_truncated(say: MakeEnv) -> None:
    env = TimeLimit(say(["one", "end"]), 1)
    env.reset()

    assert env.step("a")[2:4] == (True, False)


def test_each_episode_has_the_whole_limit(say: MakeEnv) -> None:
    env = TimeLimit(say(), 2)
    env.reset()
    env.step("a")
    env.reset()

    assert not env.step("a").truncated


@pytest.mark.parametrize(("inner", "limit", "shown"), [(None, 3, 3), (2, 3, 2), (5, 3, 3)])
def test_max_turns_is_the_smaller_limit(
    inner: int | None, limit: int, shown: int, say: MakeEnv
) -> None:
    env = say()
    env.max_turns = inner

    assert TimeLimit(env, limit).max_turns == shown


def test_outside_a_tool_it_bounds_the_calls_of_the_tool(say: MakeEnv) -> None:
    env = TimeLimit(Tool(say()), 2)
    env.reset()
    env.step("look")

    assert env.step("look").truncated
    assert env.turn == 0


def test_inside_a_tool_it_counts_what_reaches_the_environment(say: MakeEnv) -> None:
    env = Tool(TimeLimit(say(), 2))
    env.reset()
    env.step("look")
    env.step("go")
    env.step("look")

    assert env.turn == 1
    assert env.step("go").truncated


def test_a_limit_below_one_is_refused(say: MakeEnv) -> None:
    with pytest.raises(BadArguments, match=r"max_turns=0\. It counts actions: give 1 or more"):
        TimeLimit(say(), 0)


def test_the_count_is_saved_and_forked(said_id: str) -> None:
    layers = [{"id": "time_limit", "max_turns": 2}]
    env, other = gem.make(said_id, wrappers=layers), gem.make(said_id, wrappers=layers)
    env.reset(seed=0)
    env.step("a")
    twin = env.fork()
    other.restore(env.snapshot())

    assert [each.step("b").truncated for each in (env, twin, other)] == [True, True, True]
