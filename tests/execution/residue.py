"""What this process holds beside memory: processes, threads, descriptors, shared memory."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

PATIENCE_S = 60.0
PROC, SHARED = Path("/proc"), Path("/dev/shm")

T = TypeVar("T")


class Holdings(NamedTuple):
    """What is held, each thing by a name that another one does not get."""

    processes: frozenset[str]
    threads: frozenset[str]
    descriptors: frozenset[str]
    shared: frozenset[str]

    def beside(self, before: Holdings) -> list[str]:
        """Return what was not held before."""
        return sorted(name for now, then in zip(self, before, strict=True) for name in now - then)


def holdings() -> Holdings:
    """Return what this process holds now."""
    return Holdings(
        frozenset(f"process {each}" for each in descendants()),
        frozenset(f"thread {each.name} {each.ident}" for each in threading.enumerate()),
        frozenset(_descriptors()),
        named_memory() | frozenset(_mapped()),
    )


def remains(before: Holdings) -> list[str]:
    """Return what is held beside what was held before, and does not go away in a while."""
    return _last(lambda: holdings().beside(before))


def named_memory() -> frozenset[str]:
    """Return the shared memory that has a name: this process's, and that of all others here."""
    return frozenset(f"{each}" for each in SHARED.iterdir())


def named_memory_that_stays(before: frozenset[str]) -> list[str]:
    """Return what of it was not there before, and does not go away in a while."""
    return _last(lambda: sorted(named_memory() - before))


def _last(find: Callable[[], list[T]]) -> list[T]:
    """Find again and again, for a while or until there is nothing to be found."""
    until = time.monotonic() + PATIENCE_S
    while (left := find()) and time.monotonic() < until:
        time.sleep(0.01)
    return left


def descendants(parent: int | None = None) -> list[int]:
    """Return the processes that this one, or another, started, and those that they started."""
    parents = {}
    for process in (int(each.name) for each in PROC.iterdir() if each.name.isdigit()):
        state = _state(process)
        if state:
            parents[process] = int(state[1])
    found = [os.getpid() if parent is None else parent]
    for process in found:  # grows meanwhile
        found += [child for child, its in parents.items() if its == process]
    return found[1:]


def _state(process: int) -> list[str]:
    """Return a process's state, its parent, and so on; nothing where there is none."""
    try:
        return (PROC / f"{process}" / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def running(processes: list[int]) -> list[int]:
    """Return which of these run on, and do not end in a while."""
    return _last(lambda: [each for each in processes if _is_running(each)])


def _is_running(process: int) -> bool:
    state = _state(process)
    return bool(state) and state[0] != "Z"  # ended, though who inherited it has not asked how


def _descriptors() -> list[str]:
    found = []
    for entry in (PROC / "self" / "fd").iterdir():
        try:
            found.append(f"descriptor {entry.name} {entry.readlink()}")
        except FileNotFoundError:  # the one that listed them
            continue
    return found


def _mapped() -> list[str]:
    lines = (PROC / "self" / "maps").read_text().splitlines()
    return [line for line in lines if "memfd:" in line or "/dev/shm" in line]
