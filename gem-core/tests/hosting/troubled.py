"""Environments that do harm on demand. Imported in workers, by target."""

from __future__ import annotations

import ctypes
import faulthandler
import math
import os
import signal
import sys
import threading
import time
from typing import Any

from gem._python.process_tree import root
from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper


class Walk(Env):
    """Walk at random; an action or a reset that names a harm does it."""

    def __init__(self, length: int = 50, harm: str = "") -> None:
        self.max_turns: int | None = length
        do_harm(harm)

    def reset(self, seed: int | None = None, harm: str = "") -> tuple[str, dict[str, Any]]:
        self.place = self.rng.randrange(1000)
        do_harm(harm)
        return f"at {self.place}", {}

    def step(self, action: str) -> Step:
        harmed = do_harm(action)
        if harmed is not None:
            return harmed
        calls = getattr(action, "tool_calls", None)
        self.place += self.rng.randrange(-5, 6)
        ended = self.turn + 1 >= (self.max_turns or 0)
        observation = f"{self.turn}: {action} {calls} at {self.place}"
        return Step(observation, float(self.place), False, ended, {"pid": os.getpid()})

    def sample_action(self) -> str:
        return f"go {self.sample_rng.randrange(1000)}"

    def close(self) -> None:
        do_harm(getattr(self, "closing", ""))


class Slow(Walk):
    """Each step takes long enough for a snapshot to be worth its while."""

    def step(self, action: str) -> Step:
        time.sleep(0.02)
        return super().step(action)


class Talking(Walk):
    """Prints, as an author does who looks for a mistake; once past Python's own buffer."""

    def step(self, action: str) -> Step:
        print("printed")  # noqa: T201 - that is what it is for
        os.write(1, b"written\n")
        return super().step(action)


class Kin(Walk):
    """Says which tree of processes its worker belongs to."""

    def reset(self, seed: int | None = None, harm: str = "") -> tuple[str, dict[str, Any]]:
        return str(root()), {}


class Misstated(Walk):
    """Says of itself, once it is made, what no spec can say."""

    @property
    def spec(self) -> Any:
        return self._stated and self._stated.model_copy(update={"blocking": "perhaps"})

    @spec.setter
    def spec(self, stated: Any) -> None:
        self._stated = stated


class Unsaved(Slow):
    """Holds what no snapshot can."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class Wandering(Walk):
    """Does not follow its seed: its second process shows something else."""

    def step(self, action: str) -> Step:
        return super().step(action)._replace(observation=f"in {os.getpid()}")


class BadCloser(Walk):
    """Fails to close."""

    closing = "raise"


class StuckCloser(Walk):
    """Never ends to close."""

    closing = "deaf"


class HangingCloser(Walk):
    """Never ends to close, unless a signal ends it."""

    closing = "hang"


class ReplayHarm(Walk):
    """Steps well in the process that it began in, and does harm in any other."""

    def step(self, action: str) -> Step:
        if action.startswith("home"):
            home, harm = action.split()[1:]
            if str(os.getpid()) != home:
                do_harm(harm)
        return super().step(action)


class NoMemory(Walk):
    """Finds no memory when it is made."""

    def __init__(self) -> None:
        raise MemoryError("no more")


class Unnamed(Walk):
    """Tells no process ids, so that episodes can be compared."""

    def step(self, action: str) -> Step:
        return super().step(action)._replace(info={})


class Tasks(Unnamed):
    """Has three tasks, in which nothing differs."""

    num_tasks = 3

    def __init__(self) -> None:
        super().__init__(length=5)

    def reset(  # type: ignore[override]
        self, seed: int | None = None, task: int = 0
    ) -> tuple[str, dict[str, Any]]:
        return super().reset(seed)


class Refusing(Walk):
    """Fails to start."""

    def reset(self, seed: int | None = None, harm: str = "") -> tuple[str, dict[str, Any]]:
        raise RuntimeError("no start")


class Once(Walk):
    """Plays one episode of one step in each process."""

    has_played = False

    def reset(self, seed: int | None = None, harm: str = "") -> tuple[str, dict[str, Any]]:
        if Once.has_played:
            raise RuntimeError("only once")
        Once.has_played = True
        return "go", {}

    def step(self, action: str) -> Step:
        return Step("done", 1.0, True, False, {})


class Huge(Unnamed):
    """Gives rewards whose sum is too large for a number."""

    def step(self, action: str) -> Step:
        return super().step(action)._replace(reward=1e308)


class Odd(Walk):
    """Gives a reward that is no finite number where the action asks for one."""

    def step(self, action: str) -> Step:
        rewards: dict[str, Any] = {"nan": math.nan, "inf": math.inf, "text": "much"}
        return Step(action, rewards.get(action, 1.0), False, False, {})

    def solve(self) -> str:
        raise RuntimeError("no idea")


class Helpless(Walk):
    """Does harm where it is asked for help."""

    def __init__(self, then: str) -> None:
        super().__init__()
        self.then = then

    def solve(self) -> str:
        do_harm(self.then)
        return ""


class Tells(Env):
    """Tells on which thread it is."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return threading.current_thread().name, {}

    def step(self, action: str) -> Step:
        return Step(threading.current_thread().name, 1.0, True, False, {})


class Loud(Wrapper):
    """Shouts."""

    def on_step(self, action: str, step: Step) -> Step:
        return step._replace(observation=str(step.observation).upper())


class Unreadable:
    """Can be written down and not read back."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("no number",)


class Lingering:
    """Becomes a number elsewhere, and cannot be freed where it was made."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("3",)

    def __del__(self) -> None:
        _wait_for_ever()


def do_harm(harm: str) -> Step | None:
    """Do what is named; None for what is no harm."""
    if harm == "raise":
        raise RuntimeError("out of order")
    if harm == "leave":
        sys.exit("gone")
    if harm == "exit":
        os._exit(3)
    if harm == "crash":
        faulthandler.disable()  # the tests' own would print where
        ctypes.memset(8, 0, 1)
    if harm == "hang":
        _wait_for_ever()
    if harm == "deaf":
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        _wait_for_ever()
    if harm == "memory":
        return Step(str(len(bytearray(64 << 30))), 0.0, False, False, {})
    infos: dict[str, dict[str, Any]] = {
        "lambda": {"f": lambda: 1},
        "unreadable": {"f": Unreadable()},
        "foreign": {"f": 1j, "kind": Walk},
        "large": {"f": "x" * (1 << 20)},
    }
    info = {"f": Lingering()} if harm == "linger" else infos.get(harm)
    return None if info is None else Step("done", 0.0, False, False, info)


def _wait_for_ever() -> None:
    while True:
        time.sleep(0.01)
