"""Count the Python calls of one turn, from the policy's return to its next request.

Run it with `python benchmarks/way_of_an_action.py [--list]`. One episode at a time; counted are the
calls of gem's own functions in the process of the rollout, in the turn in the middle. They do not
depend on the machine or on what else runs on it, so two versions can be compared by them. What is
called of the standard library, asyncio's loop above all, is given beside them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import gem

HOME = str(Path(gem.__file__).parent)
TURNS = 40
MOST = {"inline": 49, "process": 60}


class Counter(gem.Env):
    """Counts the turns of an episode."""

    max_turns = TURNS

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Count.", {}

    def step(self, action: str) -> gem.Step:
        return gem.Step("Go on.", 1.0, False, self.turn + 1 == TURNS, {})


SPEC = gem.EnvSpec(id="bench:Counter", target=f"{Path(__file__).stem}:Counter", blocking=False)


class Way:
    """The calls of each turn: which functions, by file and name, in order."""

    def __init__(self) -> None:
        self.turns: list[list[str]] = []
        self._calls: list[str] | None = None

    def note(self, frame: FrameType, event: str, _: object) -> None:
        """Take note of a call."""
        if event == "call" and self._calls is not None:
            code = frame.f_code
            self._calls.append(f"{code.co_filename}:{code.co_name}")

    def policy(self, request: gem.Request) -> str:
        """End the turn before, and begin the next."""
        if self._calls is not None:
            self.turns.append(self._calls[:-1])  # the last one is this call of the policy
        self._calls = []
        return "one"


@contextmanager
def profiled(way: Way) -> Iterator[None]:
    """Have the calls of this thread noted."""
    sys.setprofile(way.note)
    try:
        yield
    finally:
        sys.setprofile(None)


async def played(way: Way, backend: str) -> None:
    """Play an episode."""
    workers: dict[str, Any] = {"num_workers": 1} if backend == "process" else {}
    async for episode in gem.rollout(way.policy, SPEC, backend=backend, seed=0, **workers):
        assert not episode.is_error, episode.error


def typical(way: Way) -> list[str]:
    """Return the calls of the turn in the middle, by their number."""
    turns = sorted(way.turns[5:-5], key=len)
    return turns[len(turns) // 2]


def main() -> int:
    """Count for each backend, and say whether it is as few as it should be."""
    is_well = True
    for backend, most in MOST.items():
        asyncio.run(played(Way(), backend))  # imports what is imported on first use
        way = Way()
        with profiled(way):
            asyncio.run(played(way, backend))
        every = typical(way)
        calls = [call for call in every if call.startswith(HOME)]
        files = {call.partition(":")[0] for call in calls}
        print(
            f"{backend}: {len(calls)} calls in {len(files)} files (wanted: at most {most}), "
            f"and {len(every) - len(calls)} of others"
        )
        if "--list" in sys.argv:
            print("\n".join(f"    {call.removeprefix(HOME)}" for call in calls))
        is_well = is_well and len(calls) <= most
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
