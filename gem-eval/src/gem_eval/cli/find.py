"""`gem-env find`: what is odd in recorded episodes, by rules and without a model."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

__all__ = ["add_command"]

_DESCRIPTION = """\
Let finders look at every episode of run folders, finished or still being written: how often each
found something, by environment and policy, and the newest examples with their lines in the log.
A finder is a rule without a model; packs may add theirs. It only reads. An episode that was tried
again after an error counts once, by its last try.
"""
_EPILOGUE = """\
examples:
  gem-env find runs/my-model
  gem-env find runs/before runs/after --finder loop --finder truncated
  gem-env find runs/my-model --env 'game:*' --examples 20
  gem-env find --list
"""


def add_command(commands: Any) -> None:
    """Add `find` to the commands."""
    parser = commands.add_parser(
        "find",
        help="what is odd in the episodes of runs: loops, hollow answers, and so on",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
    )
    add = parser.add_argument
    add("runs", nargs="*", metavar="RUN", help="a run folder, finished or still being written")
    add("--finder", action="append", metavar="ID", help="look by this finder alone (repeatable)")
    add("--policy", action="append", metavar="P", help="look at this policy alone (repeatable)")
    add("--env", default="*", metavar="PATTERN", help="look at these environments alone")
    add("--examples", type=_count, default=3, metavar="N", help="shown of each finder (default 3)")
    add("--list", action="store_true", help="list the installed finders instead")
    add("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.list:
        _print_list(options)
    else:
        _print_found(options)
    return 0


def _print_found(options: argparse.Namespace) -> None:
    from gem_eval.errors import FindError
    from gem_eval.finding.printing import print_found  # heavy, with what it imports: 0.3 s
    from gem_eval.finding.report import find

    if not options.runs:
        raise FindError(
            "gem-env find needs a run folder to look at, or --list. See `gem-env find --help`."
        )
    found = find(
        options.runs,
        finders=options.finder,
        policies=options.policy,
        env=options.env,
        examples=options.examples,
    )
    if options.json:
        print(json.dumps(found.to_json(), indent=2, allow_nan=False))
    else:
        print_found(found, sys.stdout)


def _print_list(options: argparse.Namespace) -> None:
    from gem_eval.finding.installed import chosen, installed  # heavy, as above
    from gem_eval.finding.printing import print_finders

    finders = chosen(options.finder)
    problems = installed().problems
    if options.json:
        plain = [
            {
                "id": each.finder.id,
                "distribution": each.distribution,
                "summary": each.finder.summary,
            }
            for each in finders
        ]
        print(json.dumps({"finders": plain, "problems": list(problems)}, indent=2))
    else:
        print_finders(finders, problems, sys.stdout)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"{text!r:.40} is no whole number from 0 on")
    return int(text)
