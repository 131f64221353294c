"""Write what was measured into docs/benchmarks.md, between its two marks, and beside a plot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.execution_parts.plot import Panel, plotted
from benchmarks.execution_parts.side import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
PLOT = ROOT / "docs" / "execution.svg"
BEGIN = "<!-- written by benchmarks/execution.py -->\n"
END = "<!-- as far as here -->"
Row = dict[str, Any]


def write(facts: Row) -> None:
    """Replace the section of the page, and the plot."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{PAGE} lost the marks of this section. Put them back: {BEGIN}{END}")
    text = "\n".join(section(facts))
    PAGE.write_text(f"{before}{begin}\n{text}\n\n{end}{after}", encoding="utf-8")
    rows = {part["part"]: part["rows"] for part in facts["parts"]}
    if rows.keys() >= PLOTTED:
        PLOT.write_text(plotted(list(panels(rows))), encoding="utf-8")


def section(facts: Row) -> Iterator[str]:
    """Yield all lines that stand between the marks."""
    yield f"Python {facts['python']}, {facts['machine']}, {', '.join(facts['reference'])}."
    yield ""
    yield from table(
        ["bar", "wanted", "measured", "holds"],
        (bar_cells(bar) for part in facts["parts"] for bar in part["bars"]),
    )
    yield ""
    yield f"![What execution costs, and what it gains]({PLOT.name})"
    for part in facts["parts"]:
        yield ""
        yield f"### {part['title']}"
        yield ""
        yield from part_lines(part)


def part_lines(part: Row) -> Iterator[str]:
    """Yield the lines of one part: its table, and what else is to be said."""
    templates = part["columns"].values()
    yield from table(
        part["columns"], ([x.format(**row) for x in templates] for row in part["rows"])
    )
    machine = part["machine"]
    yield ""
    yield (
        f"Meanwhile other processes had {machine['others']:.0%} of the cores, other machines "
        f"{machine['stolen']:.0%}, and {machine['idle']:.0%} was idle."
    )


def bar_cells(bar: Row) -> list[str]:
    """Return the cells of one bar."""
    holds = "yes" if bar["holds"] else "**no**"
    return [bar["what"], bar["wanted"], f"{bar['measured']:.4g}", holds]


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    titles = list(head)
    yield f"| {' | '.join(titles)} |"
    yield "|---" * len(titles) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


PLOTTED = {"vectors", "waiting", "stragglers"}


def panels(rows: dict[str, list[Row]]) -> Iterator[Panel]:
    """Yield the panels of the plot."""
    chosen = [r for r in rows["vectors"] if r["num_envs"] == 1024 and r["episodes"] == "7 turns"]
    yield Panel(
        "CPU microseconds that a vector of 1,024 adds to a step of a cheap game",
        [(f"{r['package']} {r['backend']}", r["added_us"]["median"]) for r in chosen],
    )
    yield Panel(
        "Share of the limit that the slowest of 1,024 waits sets",
        [
            (f"{r['package']} {r['name']}", r["share"]["median"])
            for r in rows["waiting"]
            if r["num_envs"] == 1024
        ],
    )
    yield Panel(
        "Episodes a second on a simulated inference server of 256 slots",
        [
            (f"{r['way']}, {r['num_envs']:,} in flight", r["episodes_per_s"]["median"])
            for r in rows["stragglers"]
        ],
    )
