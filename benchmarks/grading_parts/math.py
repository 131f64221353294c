"""Mathematical answers graded in a CPU second, here and by gem-llm; and what graders hold.

`measure` gives the figures. Both sides are a process each that takes pairs in turns; every pair
comes once, so that no cache helps.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import games
from benchmarks.grading_parts.pairs import Pair, mixed, plain

__all__ = ["measure", "reference_python"]

ROOT = Path(__file__).parents[2]
PACKAGES = ("pylatexenc==2.11", "datasets>=3.0")  # gem-llm imports them and does not say so
ENVS = 1024


def measure(quick: bool) -> dict[str, Any]:
    """Return answers in a CPU second of both sides, their ratio, and memory.

    `mix` is 60% whole numbers, 25% fractions and decimals and 15% algebra, `plain` whole numbers
    alone. `asked` is the share that math-verify was asked about, `theirs_agree` the share of
    gem-llm's verdicts that are as they should be.
    """
    rounds, count = (2, 100) if quick else (9, 1000)
    with _Side("ours") as ours, _Side("theirs") as theirs:
        compared = {
            "mix": _compared(ours, theirs, mixed, rounds, count),
            "plain": _compared(ours, theirs, plain, rounds, count),
        }
    return {**compared, "memory": memory(64 if quick else ENVS)}


def reference_python() -> str:
    """Return the interpreter that has gem-llm and what its grader imports."""
    python = games.reference_python()
    done = games.REFERENCE / "complete-for-mathematics"
    if not done.exists():
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        done.touch()
    return python


def memory(envs: int) -> dict[str, Any]:
    """Return what so many environments take above one, and how many workers grade for them."""
    line = [sys.executable, "-m", "benchmarks.grading_parts.crowd", str(envs)]
    reply = json.loads(subprocess.check_output(line, text=True, cwd=ROOT))
    one = reply["one"]
    every = reply["all"]
    kib = every["own_kib"] + every["grader_kib"] - one["own_kib"] - one["grader_kib"]
    return {
        "envs": envs,
        "above_one_mb": round(kib * 1024 / 1e6, 1),
        "above_one_own_mb": round((every["own_kib"] - one["own_kib"]) * 1024 / 1e6, 1),
        "grader_mb": round(every["grader_kib"] * 1024 / 1e6, 1),
        "workers": every["workers"],
    }


def _compared(
    ours: _Side,
    theirs: _Side,
    make: Callable[[int, int], Sequence[Pair]],
    rounds: int,
    count: int,
) -> dict[str, float]:
    sides = []
    asked = 0
    agreed = 0
    for number in range(rounds):
        pairs = make(count, number)
        order = (ours, theirs) if number % 2 else (theirs, ours)
        replies = {side: side.grade(pairs) for side in order}
        expected = [pair.is_right for pair in pairs]
        unlike = [
            pair
            for pair, verdict in zip(pairs, replies[ours]["verdicts"], strict=True)
            if verdict is not pair.is_right
        ]
        assert not unlike, unlike[:3]
        agreed += sum(map(bool.__eq__, replies[theirs]["verdicts"], expected))
        asked += replies[ours]["asked"]
        sides.append((replies[ours]["cpu_s"], replies[theirs]["cpu_s"]))
    return {
        "ours_per_cpu_s": round(count / statistics.median(our for our, _ in sides)),
        "theirs_per_cpu_s": round(count / statistics.median(their for _, their in sides)),
        "ratio": round(statistics.median(their / our for our, their in sides), 1),
        "least": round(min(their / our for our, their in sides), 1),
        "asked": round(asked / (rounds * count), 4),
        "theirs_agree": round(agreed / (rounds * count), 4),
    }


class _Side:
    """One of the two graders, in its own process."""

    def __init__(self, name: str) -> None:
        python = sys.executable if name == "ours" else reference_python()
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.grading_parts.math_side", name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> _Side:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def grade(self, pairs: Sequence[Pair]) -> Any:
        """Return the CPU seconds that it takes for the pairs, and its verdicts."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps(
            [(rf"The answer is \boxed{{{pair.answer}}}.", pair.gold) for pair in pairs]
        )
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())
