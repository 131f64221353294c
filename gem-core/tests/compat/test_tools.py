"""What is behind `gem.tools`: tools that read their call out of the action."""

from __future__ import annotations

from typing import Any

import pytest

import gem
from gem.compat._tools import BaseTool, ToolEnvWrapper
from gem.content import Message, TextPart

from . import envs


class Calculator(BaseTool):
    """Adds what follows "add"; fails where that is no numbers."""

    tool_type = "calculator"

    def instruction_string(self) -> str:
        return "Write add and two numbers."

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        if not action.startswith("add"):
            return False, True, "", action
        try:
            return True, False, str(sum(map(int, action.split()[1:]))), action
        except ValueError:
            return True, True, "no numbers", action


def with_tools(**arguments: Any) -> ToolEnvWrapper:
    return ToolEnvWrapper(envs.Game(), [BaseTool.__new__(Silent), Calculator()], **arguments)


class Silent(Calculator):
    """Is never called."""

    def instruction_string(self) -> str:
        return "Say nothing."

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        return False, True, "", action


def test_the_observation_says_how_to_call_and_info_counts_from_zero() -> None:
    observation, info = with_tools().reset(seed=1)

    assert observation == "Play plain.\nSay nothing.\nWrite add and two numbers."
    assert info == {
        "suffix": "Your move.",
        "tool_use_counter": 0,
        "tool_success_counter": 0,
        "use_tool": False,
        "prev_ep_tool_use_counter": 0,
        "prev_ep_tool_success_counter": 0,
    }


def test_a_call_is_answered_paid_and_counted() -> None:
    env = with_tools(tool_reward=0.5, tool_success_reward=0.25)
    env.reset(seed=1)

    right = env.step("add 1 2")
    assert right[:4] == ("3", 0.75, False, False)
    assert right.info == {
        "parsed_action": "add 1 2",
        "tool_type": "calculator",
        "tool_use_counter": 1,
        "tool_success_counter": 1,
        "use_tool": True,
    }
    wrong = env.step("add x")
    assert wrong[:2] == ("no numbers", 0.5)
    assert (wrong.info["tool_use_counter"], wrong.info["tool_success_counter"]) == (2, 1)
    assert env.step("win").info["tool_use_counter"] == 2
    assert env.reset(seed=1)[1]["prev_ep_tool_use_counter"] == 2


def test_after_the_last_call_everything_goes_to_the_environment() -> None:
    env = with_tools(max_tool_uses=1)
    env.reset(seed=1)

    assert env.step("add 1 2").observation == (
        "3\n\nReached the maximum number of tool use. Please output final answer directly."
    )
    assert env.step("add 1 2").observation == "On."
    assert env.max_turns == 4


def test_calls_may_have_no_limit() -> None:
    env = with_tools(max_tool_uses=None, tool_reward=-0.5)
    env.reset(seed=1)

    assert [env.step("add 1 1").observation for _ in range(20)] == ["2"] * 20
    assert env.max_turns is None
    assert env.reward_range[0] == float("-inf")
    assert not env.single_turn


def test_pictures_and_messages_say_how_to_call_as_well() -> None:
    asked = Message("user", "Write add and two numbers.")

    def first(env: gem.Env) -> Any:
        return ToolEnvWrapper(env, [Calculator()]).reset(seed=1)[0]

    assert first(envs.Picture())[-1] == TextPart(asked.text)
    assert first(envs.Talk())[-1] == asked
    assert first(envs.Talk(is_one=True)) == [Message("user", "Hello."), asked]


def test_a_subclass_may_hand_on_verbose_and_change_info() -> None:
    class Counting(ToolEnvWrapper):
        def reset(self, seed: int | None = None) -> Any:
            observation, info = super().reset(seed=seed)
            return observation, {"uses": info.pop("tool_use_counter")}

        def step(self, action: str, verbose: bool = False) -> Any:
            observation, reward, terminated, truncated, info = super().step(action, verbose)
            return observation, reward, terminated, truncated, {"all": info}

    env = Counting(envs.Game(), [Calculator()])
    assert env.reset(seed=1)[1] == {"uses": 0}
    assert env.step("add 1 2", True).info["all"]["tool_use_counter"] == 1
    assert env.step("add 1 2", verbose=True).info["all"]["tool_use_counter"] == 2


def test_a_copy_of_an_episode_has_its_counters_and_shares_its_tools() -> None:
    env = with_tools()
    env.reset(seed=1)
    env.step("add 1 2")

    assert env.fork().step("add 1 2").info["tool_use_counter"] == 2
    assert env.step("add 1 2").info["tool_use_counter"] == 2


def test_a_tool_says_which_method_it_lacks() -> None:
    tool = BaseTool(num_workers=2)

    assert (tool.tool_type, tool.num_workers) == ("base", 2)
    with pytest.raises(NotImplementedError, match="no instruction_string"):
        tool.instruction_string()
    with pytest.raises(NotImplementedError, match="no execute_action"):
        tool.execute_action("x")
