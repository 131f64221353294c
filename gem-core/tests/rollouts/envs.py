"""Environments that are played, and what they can do wrong."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, ClassVar

import gem
from gem.content import TextPart, ToolCall, ToolResult
from gem.env import Env
from gem.env._step import Step


class Coin(Env):
    """Guess a coin until it is right; with `faults`, some actions do harm."""

    def __init__(self, *, sides: str = "HT", limit: int = 6) -> None:
        self.sides = sides
        self.max_turns = limit

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.side = self.rng.choice(self.sides)
        return f"One of {self.sides}?", {"suffix": "first"}

    def step(self, action: str) -> Step:
        won = action == self.side
        if action in FAULTS:
            faulty: Step = FAULTS[action]()
            return faulty
        self.side = self.rng.choice(self.sides)
        info = {"success": won, "reward_parts": {"hit": float(won)}, "suffix": "next"}
        return Step(f"It was {self.side}.", float(won), won, self.turn + 1 == self.max_turns, info)

    def sample_action(self) -> str:
        return self.sample_rng.choice(self.sides)

    def solve(self) -> str:
        return self.side


def fail_with(error: BaseException) -> Any:
    raise error


def _answer(**changes: Any) -> Step:
    return Step("", 0.0, False, False, {})._replace(**changes)


def nested(depth: int) -> list[Any]:
    """Return a list in a list, that many times."""
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


def unformattable() -> SyntaxError:
    """Return an error that Python's own traceback module fails to format."""
    error = SyntaxError("bad")
    error.text = 5  # type: ignore[assignment]
    error.lineno = 1
    return error


class Undecided:
    def __bool__(self) -> bool:
        raise ValueError("neither")


FAULTS: dict[str, Callable[[], Any]] = {
    "raise": lambda: fail_with(ValueError("boom")),
    "unformattable": lambda: fail_with(unformattable()),
    "exit": lambda: fail_with(SystemExit(3)),
    "timeout": lambda: fail_with(TimeoutError("its own")),
    "cancel": lambda: fail_with(asyncio.CancelledError()),
    "stop": lambda: fail_with(StopIteration()),
    "infinite": lambda: _answer(reward=float("inf")),
    "text reward": lambda: _answer(reward="much"),
    "no info": lambda: _answer(info=None),
    "bad parts": lambda: _answer(info={"reward_parts": {"hit": None}}),
    "bad observation": lambda: _answer(observation=7),
    "no step": lambda: None,
    "bad suffix": lambda: _answer(info={"suffix": object()}),
    "bad success": lambda: _answer(terminated=True, info={"success": Undecided()}),
    "text success": lambda: _answer(terminated=True, info={"success": "no"}),
    "text info": lambda: _answer(info="oops"),
    "number of parts": lambda: _answer(info={"reward_parts": 5}),
    "bad tool results": lambda: _answer(info={"tool_results": [{"content": "found"}]}),
    "bad tool text": lambda: _answer(info={"tool_results": [ToolResult("c", b"")]}),  # type: ignore[arg-type]
    "deep call": lambda: _answer(
        observation=gem.Message("user", "", (ToolCall("c", "f", {"x": nested(200)}),))
    ),
    "bad role": lambda: _answer(observation=gem.Message("bot", "")),  # type: ignore[arg-type]
    "bad call": lambda: _answer(
        observation=gem.Message("user", "", (ToolCall("c", "f", {"x": object()}),))
    ),
}


class Dice(Coin):
    """Three tasks, one turn."""

    num_tasks = 3
    single_turn = True

    def reset(
        self, seed: int | None = None, *, task: int | None = None
    ) -> tuple[str, dict[str, Any]]:
        self.task = self.pick_task(task)
        return f"Task {self.task}", {"task": self.task}

    def step(self, action: str) -> Step:
        return Step("", 1.0, True, False, {})


class Slow(Env):
    """Waits as long as the action says, asynchronously."""

    async def areset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "How long?", {}

    async def astep(self, action: str) -> Step:
        await asyncio.sleep(float(action))
        return Step("", 1.0, True, False, {})


class Hanging(Env):
    """Blocks its thread until the test ends."""

    release = threading.Event()
    closed = 0

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "", {}

    def step(self, action: str) -> Step:
        if action == "hang":
            self.release.wait(30)
        return Step("", 1.0, True, False, {})

    def close(self) -> None:
        Hanging.closed += 1


class Unclosable(Coin):
    def close(self) -> None:
        raise OSError("stuck")


class Counted(Coin):
    """Notes each that is made, and each that is closed."""

    made: ClassVar[list[Env]] = []
    closed: ClassVar[list[Env]] = []

    def __init__(self) -> None:
        super().__init__()
        self.made.append(self)

    def close(self) -> None:
        self.closed.append(self)


class Exiting(Coin):
    def close(self) -> None:
        raise SystemExit(3)


class Stuck(Hanging):
    """Hangs where the class says: when it is closed, or asked for a solution."""

    hangs_in = ""

    def close(self) -> None:
        self._hang("close")

    def solve(self) -> str:
        self._hang("solve")
        return "go"

    def _hang(self, where: str) -> None:
        if where == self.hangs_in:
            self.release.wait(30)


class Growing(Env):
    """Returns one list and goes on to change it."""

    def reset(self, seed: int | None = None) -> tuple[list[TextPart], dict[str, Any]]:
        self.parts = [TextPart("first")]
        return self.parts, {}

    def step(self, action: str) -> Step:
        self.parts.append(TextPart("next"))
        return Step(self.parts, 0.0, False, self.turn == 1, {})


class Unmakable(Coin):
    def __init__(self, *, sides: str = "HT", limit: int = 6) -> None:
        raise RuntimeError("no data")


ENVS: dict[str, tuple[type[Env], bool]] = {
    "Coin": (Coin, False),
    "BlockingCoin": (Coin, True),
    "Dice": (Dice, False),
    "Slow": (Slow, False),
    "Hanging": (Hanging, True),
    "Unclosable": (Unclosable, False),
    "Exiting": (Exiting, False),
    "Counted": (Counted, False),
    "Stuck": (Stuck, True),
    "Growing": (Growing, False),
    "Unmakable": (Unmakable, False),
}
