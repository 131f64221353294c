"""Write what `benchmarks/games.py` measured into docs/benchmarks.md, between its two marks."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "games.json"
PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN = "<!-- written by benchmarks/games.py -->\n"
END = "<!-- as far as here -->"
KIB = 1024
Row = dict[str, Any]


def table(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of the table, a dash where gem-llm does not run offline."""
    yield (
        "| id | steps a second | gem-llm's | times (least to most) | reset mean, p95 ms | "
        "gem-llm's mean | times | snapshot and restore us | bytes |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        steps = row["steps"]
        reset = row["reset"]
        state = row["state"]
        stepped = ["-", "-"]
        started = ["-", "-"]
        if "ratio" in steps:
            ends = f"({steps['least']:.1f} to {steps['most']:.1f})"
            stepped = [f"{steps['theirs']:,}", f"{steps['ratio']:.2f} {ends}"]
            started = [f"{reset['theirs']['mean_ms']:.3f}", f"{reset['ratio']:.1f}"]
        ours = f"{reset['ours']['mean_ms']:.3f}, {reset['ours']['p95_ms']:.3f}"
        saved = [f"{state['us']:.0f}", f"{state['bytes']:,.0f}"]
        cells = [f"`{row['id']}`", f"{steps['ours']:,}", *stepped, ours, *started, *saved]
        yield f"| {' | '.join(cells)} |"


def bars(rows: list[Row]) -> Iterator[str]:
    """Yield each bar, what was measured, and whether it holds."""
    steps = {row["id"]: row["steps"]["ratio"] for row in rows if "ratio" in row["steps"]}
    if steps:
        yield bar("steps a second, times gem-llm's, least of all games", 1.3, steps, min)
        mean = math.exp(sum(map(math.log, steps.values())) / len(steps))
        yield bar("the same, geometric mean", 2.0, {f"{len(steps)} ids": mean}, min)
    faster = {row["id"]: row["reset"]["ratio"] for row in rows if "ratio" in row["reset"]}
    for pattern, least in (("game:Sokoban-*", 30.0), ("game:Sudoku-v0-hard", 10.0)):
        ratios = {id: ratio for id, ratio in faster.items() if fnmatch(id, pattern)}
        if ratios:
            yield bar(f"reset of {pattern}, times as fast as gem-llm's", least, ratios, min)
    tails = {row["id"]: row["reset"]["ours"]["p95_ms"] for row in rows}
    yield bar("reset, 95th percentile of the slowest, ms", 30.0, tails, max)
    saving = {row["id"]: row["state"]["us"] for row in rows}
    yield bar("snapshot and restore, median of the slowest, us", 100.0, saving, max)
    sizes = {row["id"]: row["state"]["bytes"] for row in rows}
    yield bar("snapshot beyond the generator's state, largest, bytes", 4.0 * KIB, sizes, max)


def bar(what: str, wanted: float, figures: dict[str, float], worst: Any) -> str:
    """Return a row: `worst` is min where figures are to be high, max where they are to be low."""
    id = worst(figures, key=figures.__getitem__)
    holds = figures[id] >= wanted if worst is min else figures[id] <= wanted
    limit = f"at {'least' if worst is min else 'most'} {wanted:g}"
    return f"| {what} | {limit} | {figures[id]:.4g} ({id}) | {'yes' if holds else '**no**'} |"


def left_out(rows: list[Row]) -> Iterator[str]:
    """Yield the ids that were not compared, gathered by reason."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if "left_out" in row:
            reasons.setdefault(reason(row["left_out"]), []).append(row["id"])
    for why, ids in reasons.items():
        yield f"- {why}: {', '.join(f'`{id}`' for id in ids)}"


def reason(error: str) -> str:
    """Return an error of gem-llm as a reader wants it."""
    known = {
        "not found in registry": "gem-llm registers no such id",
        "No words found matching": "gem-llm cannot make it: it passes None to a filter of words",
        "unsupported operand type(s) for **": "gem-llm cannot make it: it squares None",
        "nltk": "gem-llm needs a corpus of nltk, which is a download",
        "LookupError": "gem-llm needs a corpus of nltk, which is a download",
    }
    return next((text for part, text in known.items() if part in error), f"gem-llm: {error}")


def failed(rows: list[Row]) -> Iterator[str]:
    """Yield what must not be: an id of ours that failed, or actions that were read otherwise."""
    for row in rows:
        if "broken" in row:
            yield f"- `{row['id']}` failed: {row['broken']}"
        elif "actions" in row:
            ours, theirs = (row["actions"][side]["malformed"] for side in ("ours", "theirs"))
            if ours != theirs:
                yield f"- `{row['id']}`: {ours} malformed actions here, {theirs} in gem-llm"


def section(facts: dict[str, Any]) -> str:
    """Return all that stands between the marks."""
    whole = [row for row in facts["rows"] if "broken" not in row]
    lines = [
        f"Python {facts['python']}, {facts['machine']}; medians of {facts['rounds']} rounds.",
        "",
        "| bar | wanted | worst measured | holds |",
        "|---|---|---|---|",
        *bars(whole),
        "",
        *table(whole),
        "",
        "Not compared:",
        "",
        *left_out(whole),
        *failed(facts["rows"]),
    ]
    return "\n".join(lines)


def main() -> None:
    """Replace the section of the page."""
    facts = json.loads(RESULTS.read_text(encoding="utf-8"))
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{PAGE} lost the marks of this section. Put them back: {BEGIN}{END}")
    PAGE.write_text(f"{before}{begin}\n{section(facts)}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
