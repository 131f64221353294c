"""Environments of many kinds, each at times slow by a chance of its own. Workers import them."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

from gem import Step, Wrapper
from gem.content import ImagePart, Message, TextPart, ToolCall, ToolResult
from gem.env import Env

MOST_WAIT_S = 0.0015

_clock = random.SystemRandom()  # apart from every episode's chance, and never the same


def some_wait_s() -> float:
    """Return how long to wait now: mostly not at all."""
    return _clock.uniform(0, MOST_WAIT_S) if _clock.random() < 0.3 else 0.0


class Tag(Env):
    """Chase a number; the turns it takes are chance as well."""

    reward_range = (-10.0, 10.0)

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        self.place, self.left = self.rng.randrange(100), self.rng.randrange(2, 7)
        return f"at {self.place}", {"left": self.left, "suffix": "Run."}

    def step(self, action: str) -> Step:
        self.place += self.rng.choice([-1, 1]) * len(action)
        self.left -= 1
        is_over = self.left <= 0
        parts = {"place": self.place / 7, "turn": -self.turn / 3}
        info = {"left": self.left, "reward_parts": parts, "success": is_over and self.place > 50}
        return Step(f"at {self.place}", sum(parts.values()), is_over, False, info)

    def sample_action(self) -> str:
        return "go" * self.sample_rng.randrange(1, 5)


class Slow(Tag):
    """Waits where it steps, and says so in its spec."""

    def step(self, action: str) -> Step:
        time.sleep(some_wait_s())
        return super().step(action)


class Chatty(Env):
    """Awaits whatever it does, and talks in messages with calls of tools."""

    async def areset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        self.left = self.rng.randrange(1, 5)
        await asyncio.sleep(some_wait_s())
        return [Message("system", "Talk."), Message("user", f"{self.rng.random()}")], {}

    async def astep(self, action: str) -> Step:
        before = self.rng.random()
        await asyncio.sleep(some_wait_s())
        self.left -= 1
        call = ToolCall(f"{self.turn}", "look", {"for": [action, {"depth": before}]})
        said = (Message("assistant", f"{before}", (call,)), Message("tool", "seen", (), call.id))
        results = (ToolResult(call.id, f"{self.rng.random()}", self.left == 1),)
        return Step(said, self.rng.random(), self.left <= 0, False, {"tool_results": results})

    def sample_action(self) -> str:
        return f"say {self.sample_rng.random()}"


class Nested(Env):
    """Shows parts, text and images, and puts all that JSON can nest into its info."""

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        self.board = [[self.rng.randrange(9) for _ in range(3)] for _ in range(3)]
        return self._shown(), {"board": self.board}

    def step(self, action: str) -> Step:
        self.board[self.turn % 3][self.rng.randrange(3)] = self.rng.randrange(9)
        info = {"rows": {str(row[0]): {"row": row, "sum": sum(row) / 9} for row in self.board}}
        is_full = all(self.board[0])
        return Step(self._shown(), self.board[0][0] / 9, is_full, False, {"at": info, "no": None})

    def _shown(self) -> tuple[Any, ...]:
        return TextPart(f"{self.board}"), ImagePart(bytes(map(sum, self.board)))

    def sample_action(self) -> str:
        return "next"


class Jitter(Wrapper):
    """Waits a little before some answers. What is answered stays what it is."""

    def on_step(self, action: str, step: Step) -> Step:
        time.sleep(some_wait_s() / 3)
        return step
