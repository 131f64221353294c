"""CPU time of this process and those below it, and how busy the machine is. Linux only."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Sequence
from pathlib import Path

PROC = Path("/proc")


class CpuClock:
    """CPU seconds of this process, of those below it, and of those that it waited for."""

    def __init__(self, below: Sequence[int]) -> None:
        self._below = below
        self._before = _used_by_s(below), time.process_time()  # the own one last

    def spent_s(self) -> float:
        """Return what was used since this was made, this clock's own reading left out."""
        now = time.process_time()
        return now - self._before[1] + _used_by_s(self._below) - self._before[0]


def _used_by_s(processes: Sequence[int]) -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + sum(map(_used_s, processes))


def descendants() -> list[int]:
    """Return the processes below this one."""
    parents = {int(entry.name): _parent(entry) for entry in PROC.iterdir() if entry.name.isdigit()}
    processes = list[int]()
    fresh = [os.getpid()]
    while fresh:
        fresh = [pid for pid, parent in parents.items() if parent in fresh]
        processes += fresh
    return processes


def _parent(folder: Path) -> int | None:
    try:
        return int((folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def _used_s(pid: int) -> float:
    try:
        tasks = list((PROC / str(pid) / "task").iterdir())
        return sum(int((task / "schedstat").read_text("ascii").split()[0]) for task in tasks) / 1e9
    except (FileNotFoundError, ProcessLookupError):  # it ended
        return 0.0


class Machine:
    """The machine since this was made: how busy it was, and how busy others kept it."""

    def __init__(self) -> None:
        self._clock = CpuClock(descendants())
        self._since = time.perf_counter()
        self._before = ticks()

    def shares(self) -> dict[str, float]:
        """Return shares of all cores' time, by who had it, and the load."""
        own_s = self._clock.spent_s()
        wall_s = time.perf_counter() - self._since
        spent = [now - before for now, before in zip(ticks(), self._before, strict=True)]
        whole = max(1, sum(spent))
        idle = (spent[3] + spent[4]) / whole
        stolen = spent[7] / whole
        others = 1 - idle - stolen - own_s / wall_s / (os.cpu_count() or 1)
        shares = {"idle": idle, "stolen": stolen, "others": max(0.0, others)}
        return {
            **{name: round(share, 3) for name, share in shares.items()},
            "load": round(os.getloadavg()[0], 2),
        }


def ticks() -> list[int]:
    """Return what all cores did since the start: user, nice, system, idle, and so on."""
    line = (PROC / "stat").read_text(encoding="ascii").partition("\n")[0]
    return [int(number) for number in line.split()[1:9]]
