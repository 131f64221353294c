"""An environment to which, in the episodes of some seeds, the worst happens. Workers import it."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
from collections.abc import Mapping
from typing import Any

from gem import Observation, SeatedEnv, Step
from gem.env import Env, stream

TURNS = 5
IN_RESET = -1
FAULTS = {
    "raise": ("env_error", "RuntimeError: out of order"),
    "hang": ("step_timeout", "TimeoutError: the environment did not answer within"),
    "deaf": ("step_timeout", "TimeoutError: the environment did not answer within"),
    "crash": ("worker_lost", "its worker was ended by SIGSEGV"),
    "exit": ("worker_lost", "its worker ended with status 3"),
    "orphan": ("worker_lost", "its worker ended with status 3"),
    "memory": ("worker_lost", "MemoryError"),
    "unpicklable": ("env_error", "<lambda>"),
    "large": ("env_error", "may pass between processes"),
}
"""What can happen, with the stop reason that it leads to, and what the error's text holds."""

_LARGE = 50_000_000
_HUGE = 64 << 30


class Hazard(Env):
    """Walk at random. `faults` says, by the episode's seed as text, what happens, and when.

    That is a name among FAULTS and a turn, or IN_RESET. Of the episodes whose seed is not among
    them a share of `rate` has a fault too, drawn from the seed.
    """

    max_turns = TURNS
    reward_range = (0.0, 100.0)

    def __init__(self, faults: dict[str, list[Any]] | None = None, rate: float = 0.0) -> None:
        self.faults: dict[str, list[Any]] = faults or {}
        self.rate: float = rate

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        assert seed is not None
        self.place = self.rng.randrange(1000)
        self.kind, self.due = self.faults.get(str(seed)) or fault_of(seed, self.rate)
        harmed = do_harm(self.kind) if self.due == IN_RESET else None
        if harmed is not None:
            return str(harmed.observation), harmed.info
        return f"at {self.place}", {}

    def step(self, action: str) -> Step:
        harmed = do_harm(self.kind) if self.turn == self.due else None
        if harmed is not None:
            return harmed
        self.place = abs(self.place + self.rng.randrange(-50, 51))
        is_last = self.turn + 1 >= TURNS
        info = {"place": self.place, "success": is_last and self.place > 500}
        return Step(f"{action}: at {self.place}", self.place / 100, False, is_last, info)

    def sample_action(self) -> str:
        return f"go {self.sample_rng.randrange(1000)}"


class SeatedHazard(SeatedEnv):
    """Rounds of two seats, after each of which one speaks alone. `faults` are as of Hazard.

    What happens at a turn happens where the environment takes its action: in a round at the last.
    """

    seats = ("left", "right")
    zero_sum = True
    reward_range = (-1.0, 1.0)
    max_turns = 9

    def __init__(self, faults: dict[str, list[Any]] | None = None) -> None:
        self.faults: dict[str, list[Any]] = faults or {}

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        self.kind, self.due = self.faults.get(str(seed), ["", -1])
        self.cards = self.rng.sample(range(100), 2)
        for seat, card in enumerate(self.cards):
            self.tell(seat, f"Your card is {card}.")
        return self.begin(0, 1)

    def step_all(self, actions: Mapping[int, str]) -> Step:
        self._harmed()
        self.tell(1, f"{self.rng.randrange(100)} after {actions[0]}.")
        sign = 1.0 if self.cards[0] > self.cards[1] else -1.0
        return self.ask(1, rewards=(sign, -sign))

    def step(self, action: str) -> Step:
        self._harmed()
        self.tell_all(f"Right said {action}.")
        if self.turn + 1 >= self.max_turns:
            return self.end(truncated=True, success=(True, False))
        return self.ask(0, 1)

    def _harmed(self) -> None:
        if self.turn == self.due:
            do_harm(self.kind)

    def sample_action(self) -> str:
        return f"say {self.sample_rng.randrange(1000)}"


def fault_of(seed: int, rate: float) -> list[Any]:
    """Return the fault that this share of all seeds has, or one that never comes."""
    chance = stream("fault", seed)
    if chance.random() >= rate:
        return ["", TURNS]
    return [chance.choice(sorted(FAULTS)), chance.randrange(IN_RESET, TURNS)]


def do_harm(kind: str) -> Step | None:
    """Let it happen. What is to fail on its way to another process is returned."""
    if kind == "raise":
        raise RuntimeError("out of order")
    if kind == "deaf":
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    if kind in ("hang", "deaf"):
        while True:
            pass
    if kind == "crash":
        faulthandler.disable()  # pytest's own would print where
        ctypes.memset(8, 0, 1)
    if kind == "orphan" and os.fork() == 0:
        signal.pause()  # holds what it inherited
    if kind in ("exit", "orphan"):
        os._exit(3)
    if kind == "memory":
        return Step(f"{len(bytearray(_HUGE))}", 0.0, False, False, {})
    if kind == "unpicklable":
        return Step("done", 0.0, False, False, {"f": lambda: 1})
    assert kind == "large"
    return Step("x" * _LARGE, 0.0, False, False, {})
