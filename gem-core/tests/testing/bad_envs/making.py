"""Environments that cannot be saved, copied, made elsewhere or made at all."""

from __future__ import annotations

import re
import sys
from typing import Any

from gem.env import Env
from gem.env._snapshot import Snapshot, encode
from gem.errors import DataError
from gem.specs import CheckHints
from gem.testing.envs import Coin, Lamps

Started = tuple[str, dict[str, Any]]


class ForgetsGenerator(Lamps):
    """Its snapshot leaves the generator out."""

    def snapshot(self) -> Snapshot:
        kept = ((name, value) for name, value in self._state() if name != "rng")
        return Snapshot(self._plain_spec(), encode(kept))


class StartsAlike(ForgetsGenerator):
    """Says itself that it does, where a spec says nothing."""

    check_hints = CheckHints(fixed_start=True)


class RestoreForgetsLamps(Lamps):
    """Loses its state when it is restored."""

    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        self.lit = set()


class SharesWithFork(Lamps):
    """Its fork has the same lamps."""

    shared = ("lit",)


class NotPlain(Lamps):
    """Keeps what no snapshot can hold."""

    def reset(self, seed: int | None = None) -> Started:
        self.lock = re.compile("a").finditer("aaa")
        return super().reset(seed)


class DiesElsewhere(Lamps):
    """Ends any process but this one."""

    def __init__(self) -> None:
        if sys.argv[0].endswith("elsewhere.py"):
            sys.exit(3)


class RaisesElsewhere(Lamps):
    """Raises in any process but this one."""

    def __init__(self) -> None:
        if sys.argv[0].endswith("elsewhere.py"):
            raise RuntimeError("not here")


class TasksByAnotherName(Coin):
    """Starts another task than the one asked for."""

    def reset(self, seed: int | None = None, task: int | None = None) -> Started:
        observation, _ = super().reset(seed, task=task)
        return observation, {"task": None}


class TakesAnyTask(Coin):
    """Takes the number of any task."""

    def reset(self, seed: int | None = None, task: int | None = None) -> Started:
        return super().reset(seed, task=None if task is None else task % 2)[0], {"task": task}


class RaisesAlways(Env):
    """Raises in reset."""

    def reset(self, seed: int | None = None) -> Started:
        raise RuntimeError("this one is broken")


class CannotBeMade(Env):
    """Leaves while it is made."""

    def __init__(self) -> None:
        sys.exit("not even made")


class LacksData(Env):
    """Finds out in reset that its data is not there."""

    def reset(self, seed: int | None = None) -> Started:
        raise DataError("There is no table.", source="table")


class ExitsAlways(Env):
    """Leaves in reset."""

    def reset(self, seed: int | None = None) -> Started:
        sys.exit("this one wants to leave")
