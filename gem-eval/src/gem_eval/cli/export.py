"""`gem-env export`: a run in the formats that other tools read."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gem.cli import one_line
from gem_eval.exporting.formats import FORMATS
from gem_eval.wording import counted

if TYPE_CHECKING:
    from gem_eval.exporting.export import Export

__all__ = ["add_command"]

_DESCRIPTION = """\
Write the episodes of a run folder in a format that other tools read:

{formats}

The run may still be going on, and of any size: an episode is read when it is written. What is at
the place already is never overwritten, and nothing is left there if the export does not come to its
end. An episode that an error ended is never handed on as a wrong answer. Of several seats each is
handed on by itself, with what it saw, answered and earned.
"""
_EPILOGUE = """\
examples:
  gem-env export runs/games --to parquet --out games.parquet
  gem-env export runs/my-model --to sft --env 'math:*' --out solved.jsonl
  gem-env export runs/my-model --to dpo --margin 0.5 --out pairs.jsonl
  gem-env export runs/my-model --to inspect --policy my-model --out logs
"""


def add_command(commands: Any) -> None:
    """Add `export` to the commands."""
    formats = "\n".join(f"  {each.name:8} {each.summary}" for each in FORMATS.values())
    parser = commands.add_parser(
        "export",
        help=f"a run in the formats of other tools: {', '.join(FORMATS)}",
        description=_DESCRIPTION.format(formats=formats),
        epilog=_EPILOGUE,
    )
    add = parser.add_argument
    add("run_path", metavar="RUN", help="a run folder, finished or still being written")
    add("--to", required=True, choices=list(FORMATS), metavar="FORMAT", help="one of those above")
    add("--out", required=True, metavar="PATH", help="the file or folder to make")
    add(
        "--policy",
        action="append",
        metavar="P",
        help="of this policy alone (repeatable); of a line-up, its seats",
    )
    add(
        "--env",
        action="append",
        metavar="ID",
        help="of this environment alone, or of those of a pattern (repeatable)",
    )
    add("--seat", action="append", metavar="NAME", help="of this seat alone (repeatable)")
    add("--solved", action="store_true", help="successes alone (sft: as it is)")
    add(
        "--min-return",
        type=_number,
        metavar="R",
        help="sft: episodes with this return or more, solved or not",
    )
    add(
        "--margin",
        type=_positive,
        metavar="M",
        help="dpo: pair returns that differ by this much or more, and not a success with a failure",
    )
    add("--json", action="store_true", help="print what was exported as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem_eval.exporting.export import export  # heavy, with what it imports: 0.3 s

    with _progress(f"export to {options.to}") as on_progress:
        exported = export(
            options.run_path,
            to=options.to,
            out=options.out,
            policies=options.policy,
            envs=options.env,
            seats=options.seat,
            solved=options.solved,
            min_return=options.min_return,
            margin=options.margin,
            on_progress=on_progress,
        )
    if options.json:
        print(json.dumps(exported.to_json(), indent=2, allow_nan=False))
    else:
        _print(exported)
    return 0


def _print(exported: Export) -> None:
    rows = counted(exported.rows, FORMATS[exported.to].noun)
    print(one_line(f"{exported.path}: {rows} of {counted(exported.episodes, 'episode')}"))
    for reason, count in sorted(exported.left_out.items()):
        print(one_line(f"left out: {count} {reason}"))
    for note in exported.notes:
        print(one_line(note))


@contextmanager
def _progress(what: str) -> Iterator[Callable[[float], None] | None]:
    """Give what draws a bar on stderr; None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is no number, such as 0.5")
    return number


def _positive(text: str) -> float:
    number = _number(text)
    if number <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0, such as 0.5")
    return number
