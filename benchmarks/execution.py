"""Measure vectors, rollouts and worker processes, next to gem-llm's vectors and Gymnasium's.

Run it with `python benchmarks/execution.py [--only PART] [--quick]` where this project is
installed; Linux only. gem-llm and Gymnasium live in a virtual environment of their own, which is
made on first use. What is compared is measured in one run, the order changing from round to round;
differences and ratios are taken within a round, and a figure is the median over rounds. Unless it
is quick it writes benchmarks/results/execution.json, and tables and a plot for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

# The parts are modules, here and in the processes that they start.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.execution_parts import (
    crowd,
    page,
    processes,
    recovery,
    shared,
    stragglers,
    vectors,
    waiting,
)
from benchmarks.execution_parts.cpu import Machine
from benchmarks.execution_parts.part import Part
from benchmarks.execution_parts.reference import PACKAGES

RESULTS = Path(__file__).parent / "results" / "execution.json"
PARTS = {
    "vectors": vectors.measure,
    "waiting": waiting.measure,
    "stragglers": stragglers.measure,
    "crowd": crowd.measure,
    "processes": processes.measure,
    "shared": shared.measure,
    "recovery": recovery.measure,
}


def main() -> None:
    """Measure, and keep the figures of each part as it is done."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=list(PARTS), help="measure one part")
    parser.add_argument("--quick", action="store_true", help="few samples, and small ones")
    options = parser.parse_args()
    for name in [options.only] if options.only else PARTS:
        part = measured(name, is_quick=options.quick)
        if not options.quick:
            supervise(part)


def measured(name: str, *, is_quick: bool) -> dict[str, Any]:
    """Measure one part, and say what was found."""
    machine = Machine()
    part: Part = PARTS[name](is_quick=is_quick)
    row = {"part": name, **asdict(part), "machine": machine.shares()}
    row["bars"] = [bar.as_dict() for bar in part.bars]
    print("\n".join(page.part_lines(row)), flush=True)
    return row


def supervise(part: dict[str, Any]) -> None:
    """Put a part in the place of what was known of it, and write the page and the plot."""
    known = json.loads(RESULTS.read_text(encoding="utf-8"))["parts"] if RESULTS.exists() else []
    every = {row["part"]: row for row in [*known, part]}
    facts = {
        "command": "python benchmarks/execution.py",
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "reference": list(PACKAGES),
        "parts": [every[name] for name in PARTS if name in every],
    }
    RESULTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    page.write(facts)


if __name__ == "__main__":
    main()
