"""Count how densely the tree is written, beside pluggy and httpx, and print it with its goals.

    python tools/counting.py [--json]

A packed assignment has several names and several values (`a, b = x, y`); one that only swaps is
counted apart. Comment lines are lines with a comment, those apart that only speak to a tool
(`noqa`, `type: ignore` and their like). Lines are all lines of a file, blank ones too. Rooms
and floors are those of the block `layers` in ARCHITECTURE.md. pluggy and httpx are read as they
are installed.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
CORE = ROOT / "gem-core" / "src" / "gem"
DISTRIBUTIONS = sorted(ROOT.glob("gem-*/src"))
HOSTING = ("stages", "workers", "vector", "hosting", "backends.py")
"""What runs environments, in core: folders and files, of which some may not be there."""
MODELS = ("pluggy", "httpx")
TO_TOOLS = re.compile(r"#\s*(noqa|type:|pragma|fmt:|ruff:|mypy:|isort:|pylint:|pyright:|-\*-)")
LAYERS = re.compile(r"```layers\n(.*?)```", re.DOTALL)


class Code(NamedTuple):
    """What was counted in some files."""

    files: int
    lines: int
    packed: int
    swaps: int
    comment_lines: int
    longest: Sequence[tuple[str, int]]

    @property
    def comments_in_1000(self) -> float:
        """Comment lines in 1,000 lines."""
        return round(1000 * self.comment_lines / max(self.lines, 1), 1)

    @property
    def packed_in_1000(self) -> float:
        """Packed assignments in 1,000 lines."""
        return round(1000 * self.packed / max(self.lines, 1), 1)


class Goal(NamedTuple):
    """A figure of the tree, and how large it may be or must be."""

    name: str
    now: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def is_reached(self) -> bool:
        """Whether the figure is within its bounds."""
        is_small = self.at_most is None or self.now <= self.at_most
        is_large = self.at_least is None or self.now >= self.at_least
        return is_small and is_large


def main() -> int:
    """Print the figures, as tables or as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    print(json.dumps(as_data(), indent=1) if options.json else as_tables())
    return 0


def sources() -> dict[str, Code]:
    """Return the counts of the tree, of core, of each other distribution, and of the models."""
    folders = [path.parent for path in DISTRIBUTIONS]
    counts = {"all sources": counted(_python(DISTRIBUTIONS))}
    counts |= {path.name: counted(_python([path / "src"])) for path in folders}
    tests = [path / "tests" for path in folders]
    counts["all tests"] = counted(_python([*tests, ROOT / "tests"]))
    counts["hosting, in core"] = counted(_python(CORE / name for name in HOSTING))
    for name in MODELS:
        counts[name] = counted(_python([_folder_of(name)]))
    return counts


def goals() -> list[Goal]:
    """Return what is aimed at, with the figure of now."""
    packed, _ = assignments(_python(DISTRIBUTIONS))
    core = counted(_python([CORE]))
    hosting = sum(length for _, length in lengths(_python(CORE / name for name in HOSTING)))
    rooms, floors = rooms_and_floors()
    return [
        Goal("packed assignments in all sources", packed, at_most=39),
        Goal("comment lines in 1,000 of core", core.comments_in_1000, at_least=25),
        Goal("lines of the longest file of core", core.longest[0][1], at_most=350),
        Goal("lines of core", core.lines, at_most=12_999),
        Goal("lines of hosting", hosting, at_most=3_099),
        Goal("rooms in the layers block", rooms, at_most=14),
        Goal("floors in the layers block", floors, at_most=9),
    ]


def counted(paths: Sequence[Path]) -> Code:
    """Count in files of Python."""
    rows = lengths(paths)
    packed, swaps = assignments(paths)
    comment_lines = sum(_comment_lines(path.read_text("utf-8")) for path in paths)
    longest = sorted(rows, key=lambda row: (-row[1], row[0]))[:5]
    return Code(len(rows), sum(row[1] for row in rows), packed, swaps, comment_lines, longest)


def lengths(paths: Iterable[Path]) -> list[tuple[str, int]]:
    """Return the name of each file, and its lines."""
    rows = []
    for path in paths:
        name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
        rows.append((name, path.read_text("utf-8").count("\n")))
    return rows


def assignments(paths: Iterable[Path]) -> tuple[int, int]:
    """Return how many assignments are packed, and how many swap."""
    packed = 0
    swaps = 0
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Assign) and _is_packed(node):
                is_swap = _is_swap(node)
                swaps += is_swap
                packed += not is_swap
    return packed, swaps


def rooms_and_floors() -> tuple[int, int]:
    """Return how many rooms the drawing in ARCHITECTURE.md has, and on how many lines."""
    drawing = LAYERS.search((ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    if drawing is None:
        sys.exit("ARCHITECTURE.md has no block `layers`, which this reads. Put it back.")
    floors = [line.partition("|")[0].split() for line in drawing[1].splitlines() if line.strip()]
    return sum(map(len, floors)), len(floors)


def _is_packed(node: ast.Assign) -> bool:
    kinds = (ast.Tuple, ast.List)
    has_names = any(isinstance(target, kinds) for target in node.targets)
    return has_names and isinstance(node.value, kinds)


def _is_swap(node: ast.Assign) -> bool:
    """Whether the values are the names again, in another order."""
    [target, *_] = node.targets
    assert isinstance(target, (ast.Tuple, ast.List))
    assert isinstance(node.value, (ast.Tuple, ast.List))
    names = sorted(map(ast.unparse, target.elts))
    return names == sorted(map(ast.unparse, node.value.elts))


def _comment_lines(text: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    return sum(not TO_TOOLS.match(comment.string) for comment in comments)


def _python(places: Iterable[Path]) -> list[Path]:
    """Return the files of Python in folders, and those that are named themselves."""
    paths = [
        path for place in places for path in ([place] if place.is_file() else place.rglob("*.py"))
    ]
    return sorted(paths)


def _folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        sys.exit(f"{package} is not installed, and is what this compares with. Install it.")
    return Path(spec.origin).parent


def as_data() -> dict[str, Any]:
    """Return every figure, as JSON data."""
    codes = sources()
    return {
        "models": {name: version(name) for name in MODELS},
        "goals": [{**goal._asdict(), "is_reached": goal.is_reached} for goal in goals()],
        "sources": {name: code._asdict() for name, code in codes.items()},
    }


def as_tables() -> str:
    """Return the goals and the figures as two tables of Markdown, and the longest files."""
    codes = sources()
    lines = ["| figure | now | goal | reached |", "|---|---|---|---|"]
    for goal in goals():
        bound = (
            f"at most {goal.at_most:,}" if goal.at_least is None else f"at least {goal.at_least}"
        )
        lines.append(
            f"| {goal.name} | {goal.now:,} | {bound} | {'yes' if goal.is_reached else 'no'} |"
        )
    lines += ["", "| source | files | lines | packed | in 1,000 | swaps | comments in 1,000 |"]
    lines.append("|---|---|---|---|---|---|---|")
    for name, code in codes.items():
        label = f"{name} {version(name)}" if name in MODELS else name
        lines.append(
            f"| {label} | {code.files} | {code.lines:,} | {code.packed} | {code.packed_in_1000} "
            f"| {code.swaps} | {code.comments_in_1000} |"
        )
    longest = ", ".join(f"{name} {length}" for name, length in codes["gem-core"].longest)
    return "\n".join([*lines, "", f"The longest files of core: {longest}."])


if __name__ == "__main__":
    sys.exit(main())
