"""Measure how far the expected updates of the estimators of gem.returns point off their targets.

Run it with `python benchmarks/estimators.py [--check]` where gem-train is installed. It enumerates
the environments that gem-train's tests prove the estimators in, and prints and keeps the tables of
docs/estimators.md. Batches of 64 and 512 episodes are drawn, with fixed seeds, so that a run gives
the figures of the one before; it measures no time, and takes half a CPU minute. With --check it
computes the first figure of each cell and compares it with the page.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.estimators_parts.rows import OfBatch, OfGroup, measuring, of_batches, of_groups

PAGE = Path(__file__).parents[1] / "docs" / "estimators.md"
BEGIN = "<!-- written by benchmarks/estimators.py -->\n"
END = "<!-- end of what it wrote -->\n"
TARGETS = {"turns_own": "U", "discounted": "J", "undiscounted": "J1"}
NAMES = ("chain", "tree", "invest")
ENUMERATED = 4
DRAWN = {64: 2_000, 512: 500}
"""Episodes of a batch, and how many such batches are drawn."""
GROUPS = {"chain": (3, 6), "tree": (3, 6), "invest": (3, 6), "guess": (3,)}
ROUNDING = 1e-9

Cases = dict[str, Any]
Cell = list[Any]
"""What was measured in one environment, a figure for each size."""


def main() -> int:
    """Measure, print the tables and keep them, or compare them; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the page, keep nothing")
    options = parser.parse_args()
    cases = {name: measuring.Case(name) for name in GROUPS}
    if options.check:
        return check(cases)
    lines = list(tables(cases))
    print("\n".join(lines))
    write(lines)
    return 0


def tables(cases: Cases) -> Iterator[str]:
    """Yield the lines of both tables."""
    sizes = " / ".join(map(str, (ENUMERATED, *DRAWN)))
    yield f"Over a batch of {sizes} episodes, target U; one figure where the size does not matter:"
    yield ""
    yield line("estimator", "advantage of a turn", *NAMES, "verdict")
    yield "|---|---|---|---|---|---|"
    largest = 0.0
    for of_batch in of_batches():
        cells = cells_of_batch(of_batch, cases, drawn=DRAWN if of_batch.shrinks else {})
        largest = max(largest, *(each.standard_error for cell in cells for each in cell))
        yield line(of_batch.title, of_batch.advantage, *map(text, cells), of_batch.verdict)
    drawn = " and ".join(f"{number:,} of {size}" for size, number in DRAWN.items())
    yield ""
    yield (
        f"Batches of {ENUMERATED} are enumerated. Of larger ones {drawn} are drawn, whose standard "
        f"errors are at most {largest:.4f}."
    )
    yield ""
    yield "Over groups of 3 / 6 episodes (`guess`: 3), all of which are enumerated:"
    yield ""
    yield line("estimator", "advantage", "target", *GROUPS, "verdict")
    yield "|---|---|---|---|---|---|---|---|"
    for of_group in of_groups():
        found = map(text, cells_of_group(of_group, cases, GROUPS))
        target = TARGETS[of_group.target]
        yield line(of_group.title, of_group.advantage, target, *found, of_group.verdict)


def cells_of_batch(row: OfBatch, cases: Cases, *, drawn: dict[int, int]) -> list[Cell]:
    """Measure a row of the first table: enumerated, and in so many batches drawn of each size."""
    cells = []
    for name in NAMES:
        case = cases[name]
        if row.normalise is None:
            cells.append([case.alone(row.numbers)])
            continue
        cell = [case.in_batches(ENUMERATED, row.numbers, row.normalise)]
        cell += [
            case.in_drawn_batches(size, row.numbers, row.normalise, number=number)
            for size, number in drawn.items()
        ]
        cells.append(cell)
    return cells


def cells_of_group(row: OfGroup, cases: Cases, groups: dict[str, tuple[int, ...]]) -> list[Cell]:
    """Measure a row of the second table in groups of the sizes of each environment."""
    return [
        [cases[name].in_groups(size, row.estimate, row.target) for size in sizes]
        for name, sizes in groups.items()
    ]


def text(cell: Cell) -> str:
    """Return a cell as the page has it; one figure where all would be 0."""
    figures = [
        "0" if each.error < ROUNDING else f"{each.error:.3f}".removeprefix("0") for each in cell
    ]
    return "0" if set(figures) == {"0"} else " / ".join(figures)


def line(*cells: str) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def check(cases: Cases) -> int:
    """Compare the first figure of each cell with the page, and return the exit status."""
    page = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [written.strip("| ").split(" | ") for written in page if written.startswith("| `")]
    on_page = {row[0]: [cell.split(" / ")[0] for cell in row] for row in rows}
    first_sizes = {name: sizes[:1] for name, sizes in GROUPS.items()}
    measured = {
        each.title: [text(cell) for cell in cells_of_batch(each, cases, drawn={})]
        for each in of_batches()
    }
    measured |= {
        each.title: [text(cell) for cell in cells_of_group(each, cases, first_sizes)]
        for each in of_groups()
    }
    wrong = [
        title
        for title, figures in measured.items()
        if on_page.get(title, [])[-1 - len(figures) : -1] != figures
    ]
    if wrong:
        print(
            f"docs/{PAGE.name} is out of date at {wrong[0]}. Run: python benchmarks/estimators.py"
        )
    return min(len(wrong), 1)


def write(lines: list[str]) -> None:
    """Replace the tables of the page."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{PAGE} lost the marks of its tables. Put them back: {BEGIN}{END}")
    tables_text = "\n".join(lines)
    PAGE.write_text(f"{before}{begin}\n{tables_text}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
