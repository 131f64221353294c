"""Verdicts that do harm on demand. Imported by servers, by target."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from gem_envs_math.pool import Limits, Pool

PATIENT = Limits(deadline_s=60)  # of verdicts none of which shall be late
held: list[bytearray] = []


def verify(answer: str, gold: str) -> tuple[str, str]:
    """Compare two texts; an answer that names a harm does it first."""
    kind, _, number = answer.partition(" ")
    if kind in HARMS:
        HARMS[kind](int(number or 0))
    return ("right" if answer == gold else "wrong"), "compared"


def served(number: int) -> int:
    """Ask as another process, and tell which server answered."""
    pool = Pool("hazards:verify", PATIENT)
    assert pool.ask(str(number), "1") == ("right" if number == 1 else "wrong", "compared")
    return int(pool.stats()["server"])


def hang(_: int) -> None:
    while True:
        pass


def crash(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave(_: int) -> None:
    os._exit(0)


def grow(_: int) -> None:
    while True:
        held.append(bytearray(b"x" * (1 << 20)))


def swallow(_: int) -> None:
    bytearray(1 << 40)


def keep(megabytes: int) -> None:
    held.append(bytearray(b"x" * (megabytes << 20)))


def bloat(megabytes: int) -> None:
    keep(megabytes)
    hang(0)  # until the server has looked: a verdict that is quicker counts


def deepen(depth: int) -> None:
    deepen(depth + 1)


HARMS: dict[str, Callable[[int], None]] = {
    "hang": hang,
    "crash": crash,
    "leave": leave,
    "grow": grow,
    "swallow": swallow,
    "keep": keep,
    "bloat": bloat,
    "deepen": deepen,
}
