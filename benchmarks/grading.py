"""Measure graders: mathematical answers and programs, against gem-llm's.

Run it with `python benchmarks/grading.py [--only math|code] [--quick]` where gem-envs-math's
extras and gem-envs-code are installed; Linux only. gem-llm gets an environment of its own, and
both sides take turns. The results go to benchmarks/results/grading.json; those of a quick run
are only printed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "grading.json"
PARTS = ("math", "code")


def main() -> None:
    """Measure every part, or one, print it, and keep it."""
    parser = argparse.ArgumentParser(description="Measure graders against gem-llm's.")
    parser.add_argument("--only", choices=PARTS, help="measure one part")
    parser.add_argument("--quick", action="store_true", help="take little time, and keep nothing")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    measured = {}
    for name in [options.only] if options.only else PARTS:
        part = import_module(f"benchmarks.grading_parts.{name}")
        measured[name] = part.measure(options.quick)
        report(name, measured[name])
    if not options.quick:
        supervise(measured)


def report(name: str, figures: Mapping[str, Mapping[str, Any]]) -> None:
    """Print a part's figures, a line for each row."""
    for row, values in figures.items():
        print(f"{name} {row}: " + ", ".join(f"{key} {value}" for key, value in values.items()))


def supervise(measured: Mapping[str, Any]) -> None:
    """Put the figures in the place of those that were kept."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    machine = {
        "python": platform.python_version(),
        "cpus": len(os.sched_getaffinity(0)),
        "date": time.strftime("%Y-%m-%d"),
    }
    for name, figures in measured.items():
        kept[name] = {**figures, "machine": machine}
    RESULTS.write_text(json.dumps(kept, indent=2) + "\n")


if __name__ == "__main__":
    main()
