"""Problems of programming that are graded in a second, here and by gem-llm.

`measure` gives the figures. Both sides grade the same programs by the same tests, in turns, each
with what it offers to keep the machine busy: ours several problems at once, gem-llm its threads.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import games

__all__ = ["measure", "reference_python"]

TESTS = 12
PROGRAM = """\
import sys

def total(numbers):
    return sum(number * {factor} for number in numbers)

count, *numbers = map(int, sys.stdin.read().split())
print(total(numbers[:count]))
"""

Task = dict[str, Any]


def measure(quick: bool) -> dict[str, Any]:
    """Return problems in a second of both sides and the ratio, for right and wrong programs.

    `right` pass all of their twelve tests, `wrong_at_first` fail the first of them.
    """
    rounds, count = (2, 4) if quick else (7, 24)
    with _Reference() as reference:
        return {
            name: _compared(reference, _tasks(count, is_right=is_right), rounds)
            for name, is_right in (("right", True), ("wrong_at_first", False))
        }


def reference_python() -> str:
    """Return the interpreter that has gem-llm and what its programming problems import."""
    python = games.reference_python()
    done = games.REFERENCE / "complete-with-datasets"
    if not done.exists():
        subprocess.run([python, "-m", "pip", "install", "--quiet", "datasets>=3.0"], check=True)
        done.touch()
    return python


def _tasks(count: int, *, is_right: bool) -> list[Task]:
    rng = random.Random(0)
    return [_task(factor, rng, is_right=is_right) for factor in range(2, count + 2)]


def _task(factor: int, rng: random.Random, *, is_right: bool) -> Task:
    numbers = [[rng.randrange(1000) for _ in range(20)] for _ in range(TESTS)]
    return {
        "problem": f"Print {factor} times the sum of the numbers.",
        "tests": {
            "inputs": [f"20\n{' '.join(map(str, row))}\n" for row in numbers],
            "outputs": [f"{factor * sum(row)}\n" for row in numbers],
        },
        "program": PROGRAM.format(factor=factor if is_right else factor + 1),
        "is_right": is_right,
    }


def _compared(reference: _Reference, tasks: Sequence[Task], rounds: int) -> dict[str, float]:
    ours = _Ours(tasks)
    theirs = []
    reference.take(tasks)
    ours.grade()  # the sandbox starts with the first program
    sides = []
    for number in range(rounds):
        pair = [ours.grade, reference.grade]
        times = {grade: grade() for grade in (pair if number % 2 else reversed(pair))}
        sides.append((times[ours.grade], times[reference.grade]))
    theirs = [theirs_s for _, theirs_s in sides]
    return {
        "ours_per_s": round(len(tasks) / statistics.median(seconds for seconds, _ in sides), 1),
        "theirs_per_s": round(len(tasks) / statistics.median(theirs), 1),
        "ratio": round(statistics.median(their / our for our, their in sides), 2),
        "least": round(min(their / our for our, their in sides), 2),
    }


class _Ours:
    """Our environments, one for each task, graded all at once."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        import gem

        rows = [{"problem": task["problem"], "tests": task["tests"]} for task in tasks]
        self._tasks = tasks
        self._envs = [gem.make("code:CodeContest", data=rows) for _ in tasks]

    def grade(self) -> float:
        """Return the seconds that one pass takes."""
        for number, env in enumerate(self._envs):
            env.reset(task=number)
        actions = [f"```python\n{task['program']}```" for task in self._tasks]

        async def all_at_once() -> None:
            coming = (env.astep(action) for env, action in zip(self._envs, actions, strict=True))
            steps = await asyncio.gather(*coming)
            for task, step in zip(self._tasks, steps, strict=True):
                assert step.info["success"] is task["is_right"], step.info

        started = time.perf_counter()
        asyncio.run(all_at_once())
        return time.perf_counter() - started


class _Reference:
    """gem-llm in a process of its own."""

    def __enter__(self) -> _Reference:
        self._process = subprocess.Popen(
            [reference_python(), "-m", "benchmarks.grading_parts.code_reference"],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def take(self, tasks: Sequence[Task]) -> None:
        """Hand over what is graded from now on."""
        self._tell(tasks)

    def grade(self) -> float:
        """Return the seconds that one pass takes."""
        return float(self._tell(None))

    def _tell(self, message: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(message), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("gem-llm ended; its own words are above")
        return json.loads(line)
