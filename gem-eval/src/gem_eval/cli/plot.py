"""`gem-env plot`: the results of runs with their intervals, as a picture."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add_command"]

_DESCRIPTION = """\
Draw success, return and turns of run folders, finished or still being written: a line for each
policy on each environment, with its 95% interval; of one league the ratings with theirs, and who
beats whom. It only reads the runs. The file's name says its
format: .png, .svg or .pdf. What is there already is never overwritten.
"""
_EPILOGUE = """\
examples:
  gem-env plot runs/games --out games.svg
  gem-env plot runs/before runs/after --out both.png
"""


def add_command(commands: Any) -> None:
    """Add `plot` to the commands."""
    parser = commands.add_parser(
        "plot",
        help="the results of runs with their intervals, as a picture",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run folder")
    parser.add_argument("--out", required=True, metavar="FILE", help="the picture to make")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem_eval.plotting import plot  # heavy, with what it imports: 0.3 s

    print(f"Drawn: {plot(options.runs, options.out)}")
    return 0
