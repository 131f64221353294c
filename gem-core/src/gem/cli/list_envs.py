"""`gem-env list`: which environments there are. Imports manifests only."""

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
"""


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
    parser.add_argument("--wrappers", action="store_true", help="list wrappers instead")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    specs = _wrappers(options.pattern) if options.wrappers else _envs(options.pattern)
    _mention_broken_plugins()
    if options.json:
        print(json.dumps([spec.model_dump(mode="json") for spec in specs], indent=2))
    elif options.wrappers:
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


def _wrappers(pattern: str) -> Sequence[Any]:
    from fnmatch import fnmatchcase

    from gem import registry

    found = [spec for spec in registry.wrappers() if fnmatchcase(spec.id, pattern)]
    if not found and pattern != "*":
        registry.wrapper_spec(pattern)  # raises, with the ids that are near
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
