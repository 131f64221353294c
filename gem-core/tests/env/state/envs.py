"""An environment with chance, state and shared data, and how it is played."""

from __future__ import annotations

from typing import Any

from gem.env import Env
from gem.env._step import Step

Started = tuple[str, dict[str, Any]]


class Cards(Env):
    """Draws a card a step; its state is of every plain kind."""

    shared = ("deck",)
    num_tasks = 3
    deck: Any = None
    extra: Any

    def reset(self, seed: int | None = None, task: int | None = None) -> Started:
        self.task = self.pick_task(task)
        self.deck = tuple(range(52))
        self.hand: list[int] = []
        self.seen: set[int] = set()
        return f"task {self.task}", {"task": self.task}

    def step(self, action: str) -> Step:
        card = self.rng.choice(self.deck)
        self.hand.append(card)
        self.seen.add(card)
        return Step(f"{action} {card}", 0.0, card == 51, self.turn == 40, {})

    def sample_action(self) -> str:
        return str(self.sample_rng.random())

    def solve(self) -> str | None:
        return str(max(self.hand, default=0))


def play(env: Env, steps: int = 6) -> list[Any]:
    return [env.step("a")[:4] for _ in range(steps)]
