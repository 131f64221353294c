"""What the games share: how a turn ends, and what it then pays. Knows no game's rules."""

from __future__ import annotations

from typing import Any

from gem.env import Env
from gem.errors import BadArguments
from gem.step import Step
from gem_envs_games.rewards import Rewards

__all__ = ["Game"]


class Game(Env):
    """A game played by answers in a box, over in `max_turns` turns.

    A subclass writes `deal`, `instructions`, `expected`, `suffix`, and a `step` that ends in
    `_win`, `_go_on`, `_refuse` or `_malformed`. The last two say so in `info["action_error"]`.
    """

    shared = ("rewards",)

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
        return Step(f"At turn {self.turn + 1}, {message}", sum(parts.values()), True, False, info)

    def _go_on(self, message: str, parts: dict[str, float]) -> Step:
        turn = self.turn + 1
        observation = f"At turn {turn}, {message}"
        info: dict[str, Any] = {"success": False, "reward_parts": parts}
        is_over = turn == self.max_turns
        if is_over:
            observation = f"{observation}\nYou have reached the maximum number of turns."
            parts.update(self.consolation(), fail=self.rewards.fail)
        else:
            info["suffix"] = self.suffix()
        return Step(observation, sum(parts.values()), False, is_over, info)

    def _refuse(self, message: str) -> Step:
        step = self._go_on(f"{message} The turn is lost.", {"invalid": self.rewards.invalid})
        step.info["action_error"] = "invalid"
        return step

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
        return Step(observation, reward, True, False, info)
