"""One seat of several, for enumeration: the others draw their actions by the episode's chance.

To play is what the wrapper `seat_view` is for, whose opponents are seeded one by one.
"""

from __future__ import annotations

from typing import Any

from gem.content import Observation
from gem.env import Env, Step

__all__ = ["OneSeat"]


class OneSeat:
    """A seat's side of an environment, whose `rng` draws what others do by `sample_action`.

    What the seat earns while others act is part of its next step's reward, so that what it was
    `owed` before its first turn belongs to the state, beside that of the environment. Nothing is
    kept of what was said: equal positions are equal states.
    """

    def __init__(self, env: Env, number: int) -> None:
        self._env = env
        self._number = number
        self.owed = 0.0

    def sample_action(self) -> str:
        """Return an action that is drawn for the seat."""
        return self._env.hint("sample_action", self._number) or ""

    def solve(self) -> str | None:
        """Return the environment's solution for the seat."""
        return self._env.hint("solve", self._number)

    def reset(self) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode, and play on to the seat's turn; one that has none is begun again."""
        while True:
            observation, info = self._env.reset()
            first = self._played_on(Step(observation, info=info))
            if not (first.terminated or first.truncated):
                self.owed = first.reward
                return first.observation, dict(first.info)

    def step(self, action: str) -> Step:
        """Take the seat's action, and play on to its next turn, or to the end."""
        step = self._played_on(self._env.step(action))
        reward = self.owed + step.reward
        self.owed = 0.0
        return step._replace(reward=reward)

    def _played_on(self, step: Step) -> Step:
        """Play on to the seat's turn, or to the end; return what the seat sees and earned."""
        base = self._env.unwrapped
        number = self._number
        earned = 0.0
        shown: Observation = ""
        while True:
            shown = step.observations.get(number, shown)
            if "rewards" in step.info:
                earned += step.rewards[number]
            is_over = step.terminated or step.truncated
            if is_over or step.seat == number:
                break
            base.sample_rng = base.rng
            step = self._env.step(self._env.hint("sample_action", step.seat) or "")
        info: dict[str, Any] = {}
        if is_over and "successes" in step.info:
            info["success"] = step.info["successes"][number]
        elif not is_over and "suffix" in step.info:
            info["suffix"] = step.info["suffix"]
        return Step(shown, earned, step.terminated, step.truncated, info)
