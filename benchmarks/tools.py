"""Measure tools: programs in the sandbox next to gem-llm's tool without one, and calls over MCP.

Run it with `python benchmarks/tools.py [--only PART] [--quick]` where gem-tools is installed with
numpy, sympy and the extra `mcp`; Linux only. gem-llm lives in a virtual environment of its own,
which is made on first use. What is compared takes turns in one run, in an order that changes;
ratios are taken within a turn, and a figure is the median over turns. Unless it is quick it writes
benchmarks/results/tools.json.
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

from benchmarks import games
from benchmarks.execution_parts import page
from benchmarks.execution_parts.cpu import Machine
from benchmarks.execution_parts.part import Bar, Part
from benchmarks.tools_parts import mcp, programs

RESULTS = Path(__file__).parent / "results" / "tools.json"


def protocol(*, is_quick: bool) -> Part:
    """Measure a call over MCP next to the SDK's own."""
    mcp_part = mcp.measure(50 if is_quick else 1000)
    bars = [
        Bar("ms of a call, at the median", mcp_part["tool_ms"], most=2),
        Bar("times the SDK's own call", mcp_part["tool_to_sdk"], most=1.3),
    ]
    columns = {
        "ms": "{tool_ms}",
        "p99": "{tool_p99_ms}",
        "SDK's ms": "{sdk_ms}",
        "SDK's p99": "{sdk_p99_ms}",
        "in a synchronous step, ms": "{step_ms}",
        "to the SDK's": "{tool_to_sdk}",
    }
    return Part("A call over MCP's stdio", [mcp_part], columns, bars)


PARTS = {
    "back_to_back": programs.back_to_back,
    "at_once": programs.at_once,
    "rested": programs.rested,
    "mcp": protocol,
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
    part = PARTS[name](is_quick=is_quick)
    row = {"part": name, **asdict(part), "machine": machine.shares()}
    row["bars"] = [bar.as_dict() for bar in part.bars]
    bars = page.table(["bar", "wanted", "measured", "holds"], map(page.bar_cells, row["bars"]))
    print("\n".join([*page.part_lines(row), "", *bars, ""]), flush=True)
    return row


def supervise(part: dict[str, Any]) -> None:
    """Put a part in the place of what was known of it."""
    known = json.loads(RESULTS.read_text(encoding="utf-8"))["parts"] if RESULTS.exists() else []
    every = {row["part"]: row for row in [*known, part]}
    facts = {
        "command": "python benchmarks/tools.py",
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "reference": list(games.PACKAGES),
        "parts": [every[name] for name in PARTS if name in every],
    }
    RESULTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
