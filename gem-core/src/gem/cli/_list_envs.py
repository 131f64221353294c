"""`gem-env list`: which environments, wrappers or tools there are, and which of them are ready."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from gem.cli._text import columns

if TYPE_CHECKING:
    from gem.registry._availability import Lack

    Lacks = Mapping[str, tuple[Lack, ...]]

__all__ = ["add_command"]

_EPILOGUE = """\
examples:
  gem-env list
  gem-env list guess
  gem-env list 'game:*-easy' sudoku
  gem-env list --available
  gem-env list --wrappers
  gem-env list --tools

An environment is ready if it can be made here and now, without a network. What the others need
stands behind them, and at the end with the commands that bring it.
"""

_OTHERS = {"wrappers": "wrapper_spec", "tools": "tool_spec"}


def add_command(commands: Any) -> None:
    """Add `list` to the commands."""
    parser = commands.add_parser(
        "list",
        help="which environments there are",
        description="List the installed environments, grouped by namespace.",
        epilog=_EPILOGUE,
    )
    parser.add_argument(
        "patterns",
        nargs="*",
        metavar="PATTERN",
        help="a part of the id, or a shell pattern over ids, in any case; of several each id that "
        "one of them finds",
    )
    kinds = parser.add_mutually_exclusive_group()
    for kind in _OTHERS:
        kinds.add_argument(
            f"--{kind}", dest="kind", action="store_const", const=kind, help=f"list {kind} instead"
        )
    parser.add_argument("--available", action="store_true", help="leave out what is not ready")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    kind = options.kind or "envs"
    specs = _matching(kind, options.patterns)
    lacks = _lacks(kind, specs)
    listed = specs
    if options.available:
        listed = [spec for spec in specs if not lacks[spec.id]]
    _mention_broken_plugins()
    if options.json:
        print(json.dumps([_facts(spec, lacks[spec.id]) for spec in listed], indent=2))
        return 0
    blocks = [_grouped(listed, lacks) if kind == "envs" else columns(_rows(listed, lacks))]
    # Of all that were found, also where those that lack something are left out above.
    if any(lacks.values()):
        blocks.append(_needs(lacks))
    print("\n\n".join(filter(None, blocks)) or "None is installed. Install a pack to have some.")
    return 0


def _matching(kind: str, patterns: Sequence[str]) -> Sequence[Any]:
    """Return every spec that one of the patterns finds, once; without a pattern, every spec.

    Raises UnknownId, with the ids that are near, for a pattern that finds none.
    """
    from gem import registry
    from gem._python.near_names import matches

    every = registry.list_envs() if kind == "envs" else getattr(registry, kind)()
    look_up = registry.spec if kind == "envs" else getattr(registry, _OTHERS[kind])
    if not patterns:
        return every
    older: dict[str, Any] = {}  # older ids are not among the listed ones, and go on working
    wanted: set[str] = set()
    for pattern in patterns:
        ids = matches(pattern, [spec.id for spec in every])
        wanted.update(ids)
        if not ids and pattern != "*":
            spec = look_up(pattern)  # it raises, where this is no older id
            older[spec.id] = spec
    return [*older.values(), *(spec for spec in every if spec.id in wanted)]


def _lacks(kind: str, specs: Sequence[Any]) -> Lacks:
    from gem.registry._availability import lacks

    return {spec.id: lacks(spec, kind) for spec in specs}


def _facts(spec: Any, lacks: Sequence[Lack]) -> dict[str, Any]:
    state = {"available": not lacks, "lacks": [lack._asdict() for lack in lacks]}
    return {**spec.model_dump(mode="json"), **state}


def _grouped(specs: Sequence[Any], lacks: Lacks) -> str:
    ordered = sorted(specs, key=lambda spec: (spec.namespace, spec.id))  # as groupby needs them
    blocks = []
    for namespace, group in groupby(ordered, key=lambda spec: spec.namespace):
        members = list(group)
        ready = sum(not lacks[spec.id] for spec in members)
        count = f"{len(members)}" if ready == len(members) else f"{len(members)}, {ready} ready"
        blocks.append(f"{namespace} ({count})\n{columns(_rows(members, lacks), margin='  ')}")
    return "\n\n".join(blocks)


def _rows(specs: Sequence[Any], lacks: Lacks) -> list[tuple[str, str]]:
    rows = []
    for spec in specs:
        needs = "; ".join(lack.what for lack in lacks[spec.id])
        rows.append((spec.id, f"{spec.summary} [needs {needs}]" if needs else spec.summary))
    return rows


def _needs(lacks: Lacks) -> str:
    """Return how many are ready, and what the others need: each thing once, with its remedy."""
    ready = 0
    counts: Counter[Lack] = Counter()
    for missing in lacks.values():
        counts.update(missing)
        if not missing:
            ready += 1
    rows = [(str(count), lack.what, lack.remedy) for lack, count in counts.most_common()]
    return f"{ready} of {len(lacks)} are ready. The others need:\n{columns(rows, margin='  ')}"


def _mention_broken_plugins() -> None:
    from gem import registry

    broken = [record.distribution for record in registry.plugins() if record.state != "ok"]
    if broken:
        names = ", ".join(dict.fromkeys(broken))
        # Not to standard output, which may be read as JSON.
        print(f"Not every plugin is well ({names}): see `gem-env plugins`.", file=sys.stderr)
