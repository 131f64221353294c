"""What the games share: how a turn ends, and what it then pays. Knows no game's rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from gem.env import Env, Step
from gem.errors import BadArguments
from gem_envs_games.rewards import Rewards

__all__ = ["Game"]

_new = tuple.__new__  # as Step(...), in half the time: these are every game's hot paths


class Game(Env):
    """A game played by answers in a box, over in `max_turns` turns.

    A subclass writes `deal`, `instructions`, `expected`, `suffix`, and a `step` that ends in
    `_win`, `_lose`, `_go_on`, `_refuse` or `_malformed`. The last two say so in
    `info["action_error"]`.
    """

    shared: ClassVar[Sequence[str]] = ("rewards",)

    def __init__(self, max_turns: int | None, rewards: Rewards) -> None:
        if max_turns is not None and max_turns < 1:
            name = type(self).__name__
            raise BadArguments(
                f"{name} was given max_turns={max_turns}, and needs a turn at least. Pass a "
                "positive number, or None to leave it to the game.",
                subject=name,
            )
        self.max_turns = self._given_turns = max_turns
        self.rewards = rewards
        self.reward_range = rewards.bounds()

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.deal()
        return self.instructions(), {"suffix": self.suffix()}

    def deal(self) -> None:
        """Set up an episode from `rng`, `max_turns` included."""
        raise NotImplementedError

    def instructions(self) -> str:
        """Return the rules of this episode's game, with an example action."""
        raise NotImplementedError

    def expected(self) -> str:
        """Return what a well-formed answer is, with an example."""
        raise NotImplementedError

    def suffix(self) -> str:
        """Return what stands under every message: the state, then the line that asks."""
        raise NotImplementedError

    def consolation(self) -> dict[str, float]:
        """Return the partial credit for the state in which the turns ran out."""
        return {}

    def _win(self, message: str, parts: dict[str, float]) -> Step:
        info = {"success": True, "reward_parts": parts}
        observation = f"At turn {self.turn + 1}, {message}"
        return _new(Step, (observation, sum(parts.values()), True, False, info))

    def _go_on(self, message: str, parts: dict[str, float] | None = None) -> Step:
        """Return a step that ends nothing, unless turns run out. Without parts it pays `step`."""
        turn = self.turn + 1
        if turn == self.max_turns:
            return self._run_out(message, parts or {"step": self.rewards.step})
        if parts is None:
            reward = self.rewards.step
            parts = {"step": reward}
        else:
            reward = sum(parts.values())
        info = {"success": False, "reward_parts": parts, "suffix": self.suffix()}
        return _new(Step, (f"At turn {turn}, {message}", reward, False, False, info))

    def _run_out(self, message: str, parts: dict[str, float]) -> Step:
        credit = self.consolation()
        if credit:
            parts.update(credit)
        parts["fail"] = self.rewards.fail
        observation = (
            f"At turn {self.turn + 1}, {message}\nYou have reached the maximum number of turns."
        )
        info = {"success": False, "reward_parts": parts}
        return _new(Step, (observation, sum(parts.values()), False, True, info))

    def _lose(self, message: str, parts: dict[str, float] | None = None) -> Step:
        """Return a step that loses the game. It pays `fail`, and without parts `step` too."""
        parts = {"step": self.rewards.step} if parts is None else parts
        parts["fail"] = self.rewards.fail
        info = {"success": False, "reward_parts": parts}
        observation = f"At turn {self.turn + 1}, {message}"
        return _new(Step, (observation, sum(parts.values()), True, False, info))

    def _refuse(self, message: str) -> Step:
        reward = self.rewards.invalid
        message = f"{message} The turn is lost."
        parts = {"invalid": reward}
        turn = self.turn + 1
        if turn == self.max_turns:
            step = self._run_out(message, parts)
            step.info["action_error"] = "invalid"
            return step
        info = {
            "success": False,
            "reward_parts": parts,
            "suffix": self.suffix(),
            "action_error": "invalid",
        }
        return _new(Step, (f"At turn {turn}, {message}", reward, False, False, info))

    def _malformed(self) -> Step:
        reward = self.rewards.format_error
        info = {
            "success": False,
            "reward_parts": {"format_error": reward},
            "action_error": "format",
        }
        observation = (
            f"At turn {self.turn + 1}, your answer could not be read, and the game is over. "
            f"Expected {self.expected()}."
        )
        return _new(Step, (observation, reward, True, False, info))
