"""Measure customer service: its speed and memory, and what its proof and its tasks hold.

Run it with `python benchmarks/agents.py [--only PART] [--quick]`. The published tasks are not
shipped: `--retail`, `--airline` and `--corrected` name folders with their files, and what needs a
folder that is not named stays as it was stored. Parts: `speed`, `memory`, `proof`, `solution`,
`wordings`, `noise`, `tasks` and `references`. Each is kept as soon as it is measured, so that it
may be killed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# The parts are modules.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.agents_parts.folders import Folders
from benchmarks.agents_parts.noisy import noise
from benchmarks.agents_parts.played import references, solution, tasks, wordings
from benchmarks.agents_parts.proved import proof
from benchmarks.agents_parts.speed import memory, speed

RESULTS = Path(__file__).parent / "results" / "agents.json"
PARTS: dict[str, Callable[[Folders, bool], dict[str, Any]]] = {
    "speed": speed,
    "memory": memory,
    "proof": proof,
    "solution": solution,
    "wordings": wordings,
    "noise": noise,
    "tasks": tasks,
    "references": references,
}


def main() -> None:
    """Measure the parts that were asked for, and keep their figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=PARTS, help="this part alone")
    parser.add_argument("--quick", action="store_true", help="a few of each, and keep nothing")
    for name in Folders._fields:
        parser.add_argument(f"--{name}", metavar="FOLDER", help="published files")
    options = parser.parse_args()
    folders = Folders(*(getattr(options, name) for name in Folders._fields))
    for name in options.only or PARTS:
        since = time.process_time()
        figures = PARTS[name](folders, options.quick)
        took = time.process_time() - since
        print(f"{name} ({took:.0f} CPU s): {json.dumps(figures, indent=1)}", flush=True)
        if not options.quick:
            _keep(name, figures)


def _keep(name: str, figures: dict[str, Any]) -> None:
    """Put the figures of a part in the place of those before; others stay."""
    stored = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    stored[name] = {**stored.get(name, {}), **figures}
    in_order = {part: stored[part] for part in PARTS if part in stored}
    RESULTS.write_text(json.dumps(in_order, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
