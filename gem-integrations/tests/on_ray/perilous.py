"""An environment that does harm on demand. Actors import it, by target."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from gem import Step
from gem.env import Env


class Walk(Env):
    """Walk at random. The actions of `HARMS` do harm, "odd" and "who" tell things."""

    def __init__(self, length: int = 6, step_s: float = 0.0, closes: bool = True) -> None:
        self.max_turns: int = length
        self.step_s: float = step_s
        self.closes: bool = closes

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.place = self.rng.randrange(1000)
        return f"at {self.place}", {}

    def step(self, action: str) -> Step:
        time.sleep(self.step_s)
        self.place += self.rng.randrange(-5, 6)
        if action in HARMS:
            HARMS[action]()
        observation = f"{action} to {self.place}"
        if action == "who":
            observation = f"{os.getpid()} {_actor()}"
        info = {"odd": Fraction(self.place, 7)} if action == "odd" else {}
        ended = self.turn + 1 >= self.max_turns
        return Step(observation, float(self.place), False, ended, info)

    def sample_action(self) -> str:
        return f"go {self.sample_rng.randrange(1000)}"

    def close(self) -> None:
        if not self.closes:
            raise RuntimeError("the door is stuck")


def _raise() -> None:
    raise RuntimeError("out of order")


def _hang() -> None:
    while True:
        time.sleep(0.1)


def _crash() -> None:
    faulthandler.disable()
    ctypes.string_at(0)


def _kill_the_actor() -> None:
    os.kill(_actor(), signal.SIGKILL)
    _hang()


def _actor() -> int:
    """Return the process above the supervisor, which is above this one."""
    stat = Path(f"/proc/{os.getppid()}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


HARMS = {"raise": _raise, "hang": _hang, "crash": _crash, "kill the actor": _kill_the_actor}
