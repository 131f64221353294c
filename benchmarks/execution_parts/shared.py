"""The memory of many environments over one data set: what `benchmarks/shared_table.py` kept."""

from __future__ import annotations

import json

from benchmarks.execution_parts.part import Bar, Part
from benchmarks.execution_parts.side import ROOT

RESULTS = ROOT / "benchmarks" / "results" / "shared_table.json"
MEGABYTE = 10**6


def measure(*, is_quick: bool) -> Part:
    """Return it as it was measured; `nox -s bench -- shared_table` measures it anew."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))
    _, one, every = kept["phases"]
    above = (every["anonymous_kib"] - one["anonymous_kib"]) * 1024 / MEGABYTE
    size = kept["table_bytes"] / MEGABYTE
    return Part(
        "Environments over one table",
        [{"num_envs": every["envs"], "table_mb": size, "above_mb": above}],
        {
            "environments": "{num_envs:,}",
            "table, MB": "{table_mb:.0f}",
            "MB above one": "{above_mb:.1f}",
        },
        [Bar("MB of 1,024 environments over one table, above one", above, most=20)],
    )
