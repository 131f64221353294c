"""How much CPU time the arms that are left will take, by what those took that are done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.baselines.arms import Arm

__all__ = ["Left", "left"]


class Left(NamedTuple):
    """The CPU seconds of arms that are left, and of how many arms nothing is known."""

    cpu_s: float
    unknown: int

    def __str__(self) -> str:
        parts = []
        if self.cpu_s:
            parts.append(f"about {self.cpu_s / 3600:.2f} hours left")
        if self.unknown:
            parts.append(f"an unknown time left for {self.unknown} arms of tasks not begun")
        return ", ".join(parts) or "nothing left"


def left(arms: Sequence[Arm], lines: Sequence[Mapping[str, Any]]) -> Left:
    """Return what is left of an experiment's arms, whose lines so far are given.

    An arm takes what its other seeds took on average; before any of them is done, what a line of
    its task took. A mean over the whole experiment would be that of the tasks that come first.
    """
    of_arm = defaultdict(list)
    of_task = defaultdict(list)
    for line in lines:
        of_arm[line["task"], line["arm"]].append(line["cpu_s"])
        of_task[line["task"]].append(line["cpu_s"])
    done = {line["digest"] for line in lines}
    cpu_s = 0.0
    unknown = 0
    for arm in arms:
        if arm.digest in done:
            continue
        known = of_arm.get((arm.task, arm.name)) or of_task.get(arm.task)
        if known is None:
            unknown += 1
        else:
            cpu_s += sum(known) / len(known)
    return Left(cpu_s, unknown)
