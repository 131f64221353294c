"""An environment of your own in one file: write it, register it, roll a policy out.

Run it with `python examples/own_environment.py`.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

import gem


class Sum(gem.Env):
    """Add two numbers; a wrong answer ends the episode, an unreadable one costs a turn."""

    max_turns: int
    reward_range = (-0.1, 1.0)

    def __init__(self, largest: int = 99, max_turns: int = 3) -> None:
        self.largest = largest
        self.max_turns = max_turns

    def reset(self, seed: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
        self.left = self.rng.randint(0, self.largest)
        self.right = self.rng.randint(0, self.largest)
        return f"What is {self.left} + {self.right}? Answer with the number alone.", {}

    def step(self, action: str) -> gem.Step:
        answer = action.strip()
        if not (answer.isascii() and answer.isdecimal() and len(answer) < 9):
            is_over = self.turn + 1 >= self.max_turns
            return gem.Step("That is not a number.", -0.1, False, is_over, {"success": False})
        is_right = int(answer) == self.left + self.right
        text = "Right." if is_right else "Wrong."
        return gem.Step(text, float(is_right), True, False, {"success": is_right})

    def sample_action(self) -> str:
        return str(self.sample_rng.randint(0, 2 * self.largest))

    def solve(self) -> str:
        return str(self.left + self.right)


async def careless(request: gem.Request) -> str:
    """Add the units and forget to carry, as a model might."""
    left, right = map(int, re.findall(r"\d+", request.messages[0].text))
    return str((left // 10 + right // 10) * 10 + (left + right) % 10)


async def main() -> None:
    """Roll the policy out and print each episode as it finishes."""
    gem.register("demo:Sum", Sum, largest=99)
    episodes = [episode async for episode in gem.rollout(careless, "demo:Sum", episodes=20, seed=0)]
    for episode in sorted(episodes, key=lambda played: played.episode_index):
        [turn] = episode.turns
        print(f"{turn.observation}  {turn.action:>4}  {episode.final_observation}")
    print(f"{sum(bool(played.success) for played in episodes)} of {len(episodes)} are right.")


if __name__ == "__main__":
    asyncio.run(main())
