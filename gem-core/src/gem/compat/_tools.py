"""`BaseTool` and `ToolEnvWrapper`: tools as gem-llm had them, and what lets a policy call them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gem.compat._tracking import of_episode_before
from gem.content import Message, Observation, TextPart
from gem.env._env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper

__all__ = ["BaseTool", "ToolEnvWrapper"]

_NO_MORE = "\n\nReached the maximum number of tool use. Please output final answer directly."


class BaseTool:
    """A tool that reads its call out of the action itself. Write both methods."""

    tool_type = "base"

    def __init__(self, num_workers: int = 1) -> None:
        self.num_workers = num_workers

    def instruction_string(self) -> str:
        """Return what tells a policy how to call this tool."""
        raise NotImplementedError(f"{type(self).__name__} defines no instruction_string.")

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        """Return whether the action calls this tool, whether it failed, its answer, the call."""
        raise NotImplementedError(f"{type(self).__name__} defines no execute_action.")


class ToolEnvWrapper(Wrapper):
    """Let a policy call tools, as gem-llm did: the first tool whose call an action holds answers.

    The first observation ends with how each tool is called. A call earns `tool_reward`, and
    `tool_success_reward` if it does not fail. After `max_tool_uses` calls (None for no limit)
    every action goes to the environment, and the answer to the last call says so. `info` counts:
    `tool_use_counter`, `tool_success_counter`, their values of the episode before as
    `prev_ep_...` at a reset, `use_tool`; at a call `tool_type` and `parsed_action`.
    """

    # Tools hold connections and processes, which no snapshot can save: copies share them.
    shared = ("_tools",)

    def __init__(
        self,
        env: Env,
        tools: Sequence[BaseTool],
        tool_reward: float = 0.0,
        tool_success_reward: float = 0.0,
        max_tool_uses: int | None = 10,
    ) -> None:
        super().__init__(env)
        self._tools = list(tools)
        self.tool_reward = tool_reward
        self.tool_success_reward = tool_success_reward
        self.max_tool_uses = max_tool_uses
        self.tool_use_counter = 0
        self.tool_success_counter = 0

    @property
    def max_turns(self) -> int | None:  # type: ignore[override]
        """The environment's own limit, with room for every call."""
        inner = self.env.max_turns
        if inner is None or self.max_tool_uses is None:
            return None
        return inner + self.max_tool_uses

    @property
    def single_turn(self) -> bool:  # type: ignore[override]
        """False: calls take turns."""
        return False

    @property
    def reward_range(self) -> tuple[float, float]:  # type: ignore[override]
        """The environment's own range, and what a call can earn."""
        low, high = self.env.reward_range
        earned = (self.tool_reward, self.tool_reward + self.tool_success_reward)
        return min(low, *earned), max(high, *earned)

    def step(self, action: str, verbose: bool = False) -> Step:
        """Take an action; `verbose` was for printing, and is ignored."""
        return super().step(action)

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        before = of_episode_before(self._counters())  # before they begin again
        self.tool_use_counter = 0
        self.tool_success_counter = 0
        for tool in self._tools:
            observation = _with_text(observation, tool.instruction_string())
        return observation, {**info, **self._use(), **before}

    def on_action(self, action: str) -> str | Step:
        # No more calls: an action goes to the environment as it is, whatever it holds.
        if self.max_tool_uses is not None and self.tool_use_counter >= self.max_tool_uses:
            return action
        for tool in self._tools:
            is_call, failed, answer, call = tool.execute_action(action)
            if is_call:
                return self._answered(tool, answer, call, failed=failed)
        return action

    def on_step(self, action: str, step: Step) -> Step:
        return step._replace(info={**step.info, **self._use()})

    def _answered(self, tool: BaseTool, answer: str, call: str, *, failed: bool) -> Step:
        reward = self.tool_reward
        self.tool_use_counter += 1
        if not failed:
            reward += self.tool_success_reward
            self.tool_success_counter += 1
        if self.tool_use_counter == self.max_tool_uses:
            answer += _NO_MORE
        info = {"parsed_action": call, "tool_type": tool.tool_type}
        return Step(answer, reward, False, False, info)

    def _use(self) -> dict[str, Any]:
        return {**self._counters(), "use_tool": self.tool_use_counter > 0}

    def _counters(self) -> dict[str, int]:
        return {
            "tool_use_counter": self.tool_use_counter,
            "tool_success_counter": self.tool_success_counter,
        }


def _with_text(observation: Observation, text: str) -> Observation:
    """Put a line under an observation: a text, parts of one, a message or several."""
    if isinstance(observation, str):
        return f"{observation}\n{text}"
    # A line among messages is a message of its own; among parts it is one more part.
    pieces: list[Any] = [observation] if isinstance(observation, Message) else [*observation]
    is_talk = any(isinstance(piece, Message) for piece in pieces)
    return [*pieces, Message("user", text) if is_talk else TextPart(text)]
