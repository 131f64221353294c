"""Measure this project's games and gem-llm's, each in a virtual environment of its own.

Run it with `python benchmarks/games.py [--only PATTERN] [--quick]` where this project is
installed. Two processes live to the end and are told in turn what to measure, the same actions
and seeds, the order changing from round to round. Times are of CPU; ratios are taken within a
round, and a figure is the median over rounds. Steps and resets are timed apart from each other.
A complete run writes benchmarks/results/games.json and the table in docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import select
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PARTS = FOLDER / "game_parts"
RESULTS = FOLDER / "results" / "games.json"
REFERENCE = FOLDER.parent / ".venv-gem-llm-0.1.0"
PACKAGES = ("gem-llm==0.1.0", "pandas>=2")  # its crosswords import pandas, undeclared
STEPS = 5000
FEWER_STEPS = {  # a reset takes gem-llm up to seconds there
    "game:Sokoban-v0-hard": 300,
    "game:Sokoban-v0-random": 80,
    "game:Sudoku-v0-hard": 1500,
}
PATIENCE_S = 300.0
Row = dict[str, Any]


class Broken(Exception):
    """A package could not do what it was told."""

    def __init__(self, worker: Worker, problem: str) -> None:
        super().__init__(problem)
        self.worker = worker


class Worker:
    """A process that measures under one of the two interpreters."""

    def __init__(self, python: str, actions: Path, log: Path) -> None:
        self._command = [python, str(PARTS / "worker.py"), str(actions)]
        self._log = log
        self._start()

    def _start(self) -> None:
        # Nothing may download a corpus: what runs offline is what is compared.
        closed = {f"{name}_proxy": "http://127.0.0.1:9" for name in ("http", "https")}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env={**os.environ, **closed, "PYTHONHASHSEED": "0"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    def tell(self, task: str, **arguments: Any) -> Any:
        """Return what the task gave. Raises Broken, and starts anew where no answer came."""
        process = self._process
        assert process.stdin
        assert process.stdout
        line = json.dumps({"task": task, "arguments": arguments})
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE_S)
        reply = process.stdout.readline() if ready else b""
        if not reply:
            self.close()
            self._start()
            raise Broken(self, f"{task} " + ("died" if ready else f"took over {PATIENCE_S:g} s"))
        answer = json.loads(reply)
        if "error" in answer:
            raise Broken(self, f"{task}: {answer['error']}")
        return answer["result"]

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def reference_python() -> str:
    """Return the interpreter that has gem-llm, its environment made on first use."""
    python = REFERENCE / "bin" / "python"
    done = REFERENCE / "complete"
    if not done.exists():
        venv.create(REFERENCE, clear=True, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        done.touch()
    return str(python)


class Measurement:
    """What is measured of each id, in both packages, and how long."""

    def __init__(self, ours: Worker, theirs: Worker, recorded: set[str], rounds: int) -> None:
        self._ours = ours
        self._theirs = theirs
        self._recorded = recorded
        self._rounds = rounds
        self._order = random.Random(0)
        self.share = 1.0
        self.resets = 400
        self.least = 2
        self.budget_s = 20.0
        self.episodes = 200

    def hurry(self) -> None:
        """Take fewer samples of everything."""
        self.share = 0.3
        self.resets = 100
        self.budget_s = 2.0
        self.episodes = 20

    def row(self, id: str) -> Row:
        """Measure one id, ours alone where gem-llm cannot; where ours fails the row says so."""
        try:
            try:
                self._check_theirs(id)
                return self._measured(id, is_compared=True)
            except Broken as error:
                if error.worker is self._ours:
                    raise
                return {**self._measured(id, is_compared=False), "left_out": str(error)}
        except Broken as error:
            return {"id": id, "broken": str(error)}

    def _check_theirs(self, id: str) -> None:
        """Raise Broken where gem-llm cannot play it as recorded."""
        if id in self._recorded:
            self._theirs.tell("probe", id=id, actions=20)
            return
        self._theirs.tell("time_resets", id=id, first=0, count=1, least=1, budget_s=0)
        raise Broken(self._theirs, "no actions are recorded for it")

    def _measured(self, id: str, *, is_compared: bool) -> Row:
        return {
            "id": id,
            **self._steps(id, is_compared=is_compared),
            **self._reset_times(id, is_compared=is_compared),
            "state": self._ours.tell("state", id=id, episodes=self.episodes, repeats=self.resets),
        }

    def _sides(self, is_compared: bool) -> Sequence[tuple[str, Worker]]:
        sides = [("ours", self._ours), ("theirs", self._theirs)][: 2 if is_compared else 1]
        return self._order.sample(sides, len(sides))

    def _steps(self, id: str, *, is_compared: bool) -> Row:
        count = max(100, int(FEWER_STEPS.get(id, STEPS) * self.share))
        if not is_compared:
            times = [
                self._ours.tell("time_sampled_steps", id=id, count=count)
                for _ in range(self._rounds)
            ]
            return {"steps": {"ours": round(1 / statistics.median(times))}}
        mix = {side: worker.tell("mix", id=id, actions=count) for side, worker in self._sides(True)}
        rounds = [
            {side: worker.tell("time_steps", id=id, actions=count) for side, worker in pair}
            for pair in (self._sides(True) for _ in range(self._rounds))
        ]
        ratios = [times["theirs"] / times["ours"] for times in rounds]
        per_second = {
            side: round(1 / statistics.median(times[side] for times in rounds))
            for side in ("ours", "theirs")
        }
        ends = {"ratio": statistics.median(ratios), "least": min(ratios), "most": max(ratios)}
        return {"steps": {**per_second, **rounded(ends)}, "actions": {"count": count, **mix}}

    def _reset_times(self, id: str, *, is_compared: bool) -> Row:
        samples: dict[str, list[float]] = {"ours": [], "theirs": []}
        count = self.resets // self._rounds + 1
        for round_ in range(self._rounds):
            for side, worker in self._sides(is_compared):
                samples[side] += worker.tell(
                    "time_resets",
                    id=id,
                    first=round_ * count,
                    count=count,
                    least=self.least,
                    budget_s=self.budget_s / self._rounds,
                )
        row: Row = {side: summary(times) for side, times in samples.items() if times}
        if is_compared:
            row["ratio"] = round(row["theirs"]["mean_ms"] / row["ours"]["mean_ms"], 2)
        return {"reset": row}


def summary(times: list[float]) -> dict[str, float]:
    """Return what there is to say about the milliseconds of many resets."""
    p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
    figures = {
        "mean_ms": statistics.fmean(times),
        "median_ms": statistics.median(times),
        "p95_ms": p95,
        "most_ms": max(times),
    }
    return {**rounded(figures), "samples": len(times)}


def rounded(figures: dict[str, float]) -> dict[str, float]:
    """Return figures with as many digits as mean something."""
    return {name: float(f"{figure:.4g}") for name, figure in figures.items()}


def line(row: Row) -> str:
    """Return what a person who waits wants to know of one id."""
    if "broken" in row:
        return f"{row['id']:32} FAILED: {row['broken']}"
    steps = row["steps"]
    ours = row["reset"]["ours"]
    state = row["state"]
    compared = f"{steps['ratio']:5.2f} times" if "ratio" in steps else "not compared"
    times = f" {row['reset']['ratio']:8.1f} times" if "ratio" in row["reset"] else ""
    return (
        f"{row['id']:32} {steps['ours']:>8} steps/s {compared:12} | reset mean "
        f"{ours['mean_ms']:.3f} p95 {ours['p95_ms']:.3f} ms{times} | snapshot+restore "
        f"{state['us']:.0f} us, {state['bytes']:.0f} bytes"
    )


def measure(options: argparse.Namespace, folder: Path) -> list[Row]:
    """Measure every id that is asked for, and say so as it goes."""
    actions = folder / "actions.json"
    log = folder / "log.txt"
    subprocess.run([sys.executable, str(PARTS / "actions.py"), str(actions)], check=True)
    recorded = set(json.loads(actions.read_text(encoding="utf-8")))
    workers = [
        Worker(python, actions, log)
        for python in (options.python, options.reference_python or reference_python())
    ]
    try:
        measurement = Measurement(workers[0], workers[1], recorded, options.rounds)
        if options.quick:
            measurement.hurry()
        rows = []
        for id in workers[0].tell("ids", pattern=options.only):
            rows.append(measurement.row(id))
            print(line(rows[-1]), flush=True)
        return rows
    finally:
        for worker in workers:
            worker.close()


def main() -> None:
    """Measure, and keep a complete run's figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="game:*", metavar="PATTERN", help="a pattern over ids")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="fewer samples of everything")
    parser.add_argument("--python", default=sys.executable, help="where this project is installed")
    parser.add_argument("--reference-python", help="where gem-llm 0.1.0 and pandas are installed")
    parser.add_argument("--write", action="store_true", help="keep the figures in any case")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(options, Path(folder))
    if options.write or not (options.quick or options.only != "game:*"):
        supervise(rows, options.rounds)


def supervise(rows: list[Row], rounds: int) -> None:
    """Write the figures, and the page that shows them."""
    facts = {
        "command": "python benchmarks/games.py",
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "reference": list(PACKAGES),
        "rounds": rounds,
        "rows": rows,
    }
    RESULTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    subprocess.run([sys.executable, str(PARTS / "table.py")], check=True)


if __name__ == "__main__":
    main()
