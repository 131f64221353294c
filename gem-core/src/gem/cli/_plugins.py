"""`gem-env plugins`: every installed plugin, what it provides, and what is wrong with it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from gem.cli._text import columns, indented, one_line

if TYPE_CHECKING:
    from gem.hooks import HookProblem
    from gem.registry._discovery import PluginRecord

__all__ = ["add_command"]

_EPILOGUE = """\
examples:
  gem-env plugins
  gem-env plugins --traceback
"""
_KINDS = ("envs", "wrappers", "tools", "policies", "adapters", "executors", "hooks")


def add_command(commands: Any) -> None:
    """Add `plugins` to the commands."""
    parser = commands.add_parser(
        "plugins",
        help="every plugin and its state",
        description="List every plugin: distribution, version, state, what it provides, error. "
        "The exit status is 1 if one is not ok.",
        epilog=_EPILOGUE,
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--traceback", action="store_true", help="show where each error arose")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem import hooks, registry

    records = registry.plugins()
    problems = hooks.problems()  # this imports every hook module, so that a broken one is seen
    if options.json:
        print(json.dumps([_facts(record, problems) for record in records], indent=2))
    else:
        print(_table(records, problems, with_traceback=options.traceback))
    return int(bool(problems) or any(record.state != "ok" for record in records))


def _facts(record: PluginRecord, problems: tuple[HookProblem, ...]) -> dict[str, Any]:
    return {
        "name": record.name,
        "distribution": record.distribution,
        "version": record.version,
        "state": record.state,
        "counts": _counts(record),
        "error": record.error,
        "traceback": record.traceback,
        "hook_errors": [
            str(problem) for problem in problems if problem.distribution == record.distribution
        ],
    }


def _counts(record: PluginRecord) -> dict[str, int]:
    if record.manifest is None:
        return {}
    counts = {kind: len(getattr(record.manifest, kind)) for kind in _KINDS}
    return {kind: count for kind, count in counts.items() if count}


def _table(
    records: tuple[PluginRecord, ...], problems: tuple[HookProblem, ...], *, with_traceback: bool
) -> str:
    rows = [("plugin", "distribution", "version", "state", "provides")]
    for record in records:
        counts = ", ".join(_counted(kind, count) for kind, count in _counts(record).items())
        rows.append((record.name, record.distribution, record.version, record.state, counts))
    blocks = [columns(rows)]
    for record in records:
        if record.error is not None:
            what = one_line(f"{record.name} ({record.distribution}): {record.error}")
            blocks.append(_trouble(what, record.traceback, with_traceback))
    blocks += [
        _trouble(one_line(str(problem)), problem.traceback, with_traceback) for problem in problems
    ]
    return "\n".join(blocks)


_ONE = {"policies": "policy"}  # kinds whose name is more than the word with an s


def _counted(kind: str, count: int) -> str:
    if count == 1:
        return f"1 {_ONE.get(kind, kind.removesuffix('s'))}"
    return f"{count} {kind}"


def _trouble(what: str, traceback: str | None, with_traceback: bool) -> str:
    if with_traceback and traceback:
        return f"{what}\n{indented(traceback.rstrip())}"
    return what
