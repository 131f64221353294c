"""`gem-env list`: which environments, wrappers or tools there are. Imports manifests only."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from gem.cli.text import columns

__all__ = ["add_command"]

_EPILOGUE = """\
examples:
  gem-env list
  gem-env list 'game:*-easy'
  gem-env list --wrappers
  gem-env list --tools
"""

_OTHERS = {"wrappers": "wrapper_spec", "tools": "tool_spec"}


def add_command(commands: Any) -> None:
    """Add `list` to the commands."""
    parser = commands.add_parser(
        "list",
        help="which environments there are",
        description="List the installed environments, grouped by namespace.",
        epilog=_EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "pattern", nargs="?", default="*", metavar="PATTERN", help="a shell pattern over ids"
    )
    kinds = parser.add_mutually_exclusive_group()
    for kind in _OTHERS:
        kinds.add_argument(
            f"--{kind}", dest="kind", action="store_const", const=kind, help=f"list {kind} instead"
        )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    specs = _others(options.kind, options.pattern) if options.kind else _envs(options.pattern)
    _mention_broken_plugins()
    if options.json:
        print(json.dumps([spec.model_dump(mode="json") for spec in specs], indent=2))
    elif options.kind:
        print(columns((spec.id, spec.summary) for spec in specs))
    else:
        print(_grouped(specs))
    return 0


def _envs(pattern: str) -> Sequence[Any]:
    from gem import registry

    found = registry.list_envs(pattern)
    if not found and pattern != "*":
        registry.spec(pattern)  # raises, with the ids that are near
    return found


def _others(kind: str, pattern: str) -> Sequence[Any]:
    from fnmatch import fnmatchcase

    from gem import registry

    found = [spec for spec in getattr(registry, kind)() if fnmatchcase(spec.id, pattern)]
    if not found and pattern != "*":
        getattr(registry, _OTHERS[kind])(pattern)  # raises, with the ids that are near
    return found


def _grouped(specs: Sequence[Any]) -> str:
    ordered = sorted(specs, key=lambda spec: (spec.namespace, spec.id))
    groups = groupby(ordered, key=lambda spec: spec.namespace)
    blocks = []
    for namespace, members in groups:
        rows = [(spec.id, spec.summary) for spec in members]
        blocks.append(f"{namespace} ({len(rows)})\n{columns(rows, margin='  ')}")
    return "\n\n".join(blocks) or "No environment is installed. Install a pack to have some."


def _mention_broken_plugins() -> None:
    from gem import registry

    broken = [record.distribution for record in registry.plugins() if record.state != "ok"]
    if broken:
        names = ", ".join(dict.fromkeys(broken))
        print(f"Not every plugin is well ({names}): see `gem-env plugins`.", file=sys.stderr)
