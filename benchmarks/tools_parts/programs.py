"""Programs that a policy calls: here in a sandbox, by gem-llm's tool in none.

Blocks of calls that follow each other at once take turns, in an order that changes. A ratio is that
of the medians of two blocks of one round, and the figure its median over rounds.
"""

from __future__ import annotations

import random
import sys
from statistics import median
from typing import Any, NamedTuple

from benchmarks import games
from benchmarks.execution_parts.part import Bar, Part, Row, spread
from benchmarks.execution_parts.side import Side

__all__ = ["at_once", "back_to_back", "rested"]

STANDBY = 2
AT_ONCE = 4
THREADS = 16


class Program(NamedTuple):
    """A program, what it prints, and how often it is run: rounds, and calls of a block."""

    code: str
    shown: str
    rounds: int
    calls: int
    back_to_back: float
    at_once: float | None
    """The bars: how many times as fast it must be, at least."""


PROGRAMS = {
    "print(1 + 1)": Program("print(1 + 1)", "2", 15, 20, 1, 1),
    "import numpy": Program(
        "import numpy as np\nprint(int(np.arange(10).sum()))", "45", 9, 15, 8, 3
    ),
    "numpy and sympy": Program(
        "import numpy as np\nimport sympy\nx = sympy.Symbol('x')\n"
        "print(sympy.solve(x**2 - 4), int(np.arange(3).sum()))",
        "[-2, 2] 3",
        7,
        8,
        15,
        None,
    ),
}


class Sides:
    """Both tools, each in a process of its own, taking turns."""

    def __init__(self) -> None:
        self._ours = Side(sys.executable, "sandboxed", folder="tools_parts")
        self._theirs = Side(games.reference_python(), "reference", folder="tools_parts")
        self._order = random.Random(0)

    def __enter__(self) -> Sides:
        self._ours.__enter__()
        self._theirs.__enter__()
        return self

    def __exit__(self, *why: Any) -> None:
        self._theirs.__exit__(*why)
        self._ours.__exit__(*why)

    def turn(self, task: str, ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[Any, Any]:
        """Give both the same task, in either order, and return what came of it."""
        turns = [("ours", self._ours, ours), ("theirs", self._theirs, theirs)]
        self._order.shuffle(turns)
        done = {name: side.tell(task, **arguments) for name, side, arguments in turns}
        return done["ours"], done["theirs"]


def back_to_back(*, is_quick: bool) -> Part:
    """Measure calls that follow each other without an idle time in which jails could be made."""
    rows = list[Row]()
    bars = list[Bar]()
    with Sides() as sides:
        for name, program in PROGRAMS.items():
            rounds, calls = (2, 4) if is_quick else (program.rounds, program.calls)
            run = {
                "code": program.code,
                "shown": program.shown,
                "calls": calls,
                "warm": STANDBY + 1,
            }
            sides.turn("block", {**run, "calls": 1}, {**run, "calls": 1})
            turns = [sides.turn("block", run, run) for _ in range(rounds)]
            ratio = spread(median(theirs) / median(ours) for ours, theirs in turns)
            rows.append(
                {
                    "program": name,
                    **_times("ours", [took for ours, _ in turns for took in ours]),
                    **_times("theirs", [took for _, theirs in turns for took in theirs]),
                    "ratio": ratio,
                    "rounds": rounds,
                    "calls": calls,
                }
            )
            bars.append(Bar(f"{name}: times as fast", ratio["median"], least=program.back_to_back))
    return Part(
        "One call after the other", rows, _TIMES | {"times as fast (least to most)": _RATIO}, bars
    )


def at_once(*, is_quick: bool) -> Part:
    """Measure how many calls a second are made with several in flight."""
    rows = list[Row]()
    bars = list[Bar]()
    with Sides() as sides:
        for name, program in PROGRAMS.items():
            if program.at_once is None:
                continue
            rounds, calls = (2, 8) if is_quick else (5, 2 * THREADS)
            run = {"code": program.code, "shown": program.shown}
            ours = {**run, "calls": 4 * calls, "at_once": AT_ONCE}
            theirs = {**run, "calls": calls, "at_once": THREADS}
            sides.turn("at_once", {**ours, "calls": 1}, {**theirs, "calls": 1})
            turns = [sides.turn("at_once", ours, theirs) for _ in range(rounds)]
            rates = [(4 * calls / one, calls / other) for one, other in turns]
            ratio = spread(one / other for one, other in rates)
            row = {
                "program": name,
                "ours_per_s": spread(one for one, _ in rates),
                "theirs_per_s": spread(other for _, other in rates),
                "ratio": ratio,
                "rounds": rounds,
            }
            rows.append(row)
            bars.append(Bar(f"{name}: times as many", ratio["median"], program.at_once))
    columns = {
        "program": "{program}",
        f"calls a second, {AT_ONCE} in flight": "{ours_per_s[median]}",
        f"gem-llm's, {THREADS} threads": "{theirs_per_s[median]}",
        "times as many (least to most)": _RATIO,
    }
    return Part("Several calls in flight", rows, columns, bars)


def rested(*, is_quick: bool) -> Part:
    """Measure calls that come one by one, each after 50 ms in which nothing is asked."""
    rows = list[Row]()
    bars = list[Bar]()
    with Side(sys.executable, "sandboxed", folder="tools_parts") as ours:
        for name, program in PROGRAMS.items():
            run: dict[str, Any] = {"code": program.code, "shown": program.shown, "rest_s": 0.05}
            ours.tell("after_rest", **run, calls=5)
            took = ours.tell("after_rest", **run, calls=20 if is_quick else 400)
            times = _times("ours", took)
            ratio = times["ours_p99_ms"] / times["ours_p50_ms"]
            rows.append({"program": name, **times, "ratio": round(ratio, 2)})
            bars.append(Bar(f"{name}: p99 to median", ratio, most=3))
    columns = {name: _TIMES[name] for name in ("program", "ms", "p99")}
    return Part("Calls after an idle time", rows, columns | {"p99 to median": "{ratio}"}, bars)


_TIMES = {
    "program": "{program}",
    "ms": "{ours_p50_ms}",
    "p99": "{ours_p99_ms}",
    "gem-llm's ms": "{theirs_p50_ms}",
    "gem-llm's p99": "{theirs_p99_ms}",
}
_RATIO = "{ratio[median]} ({ratio[least]} to {ratio[most]})"


def _times(side: str, took: list[float]) -> dict[str, float]:
    ranked = sorted(took)
    high = ranked[min(int(0.99 * len(ranked)), len(ranked) - 1)]
    return {
        f"{side}_p50_ms": round(1000 * median(ranked), 2),
        f"{side}_p99_ms": round(1000 * high, 2),
    }
