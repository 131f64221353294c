"""Environments that worker processes import: one that computes, one that does what kills."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import gem

__all__ = ["MOST_MEMORY_BYTES", "Busy", "Faulty"]

MOST_MEMORY_BYTES = 4 * 2**30
BUSY_S = 0.005


class Busy(gem.Env):
    """Computes for 5 ms of CPU time in each step."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Go.", {}

    def step(self, action: str) -> gem.Step:
        until = time.thread_time() + BUSY_S
        while time.thread_time() < until:
            pass
        return gem.Step("Go.", 0.0, False, False, {})


class Faulty(gem.Env):
    """Tells its process, and does a fault that is asked for."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.count = 0
        return "Go.", {}

    def step(self, action: str) -> gem.Step:
        self.count += 1
        FAULTS.get(action, nothing)()
        return gem.Step(str(self.count), 0.0, False, False, {"process": os.getpid()})


def nothing() -> None:
    """Go on."""


def segfault() -> None:
    """Read where nothing is."""
    ctypes.string_at(0)


def leave() -> None:
    """End the process without a word."""
    os._exit(3)


def hang() -> None:
    """Stay, deaf to every signal that can be blocked."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        time.sleep(1.0)


def allocate() -> None:
    """Ask for far more memory than there may be."""
    bytearray(64 * 2**30)


FAULTS: dict[str, Callable[[], None]] = {
    "segmentation fault": segfault,
    "os._exit": leave,
    "hang, signals masked": hang,
    "64 GiB allocation": allocate,
}
