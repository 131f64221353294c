"""`gem-env report`: the tables of runs, finished or not. It only reads."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from gem.cli import one_line
from gem_eval.wording import counted

if TYPE_CHECKING:
    from gem_eval.run_folder import RunFolder
    from gem_eval.summary import Summary

__all__ = ["add_command"]

_DESCRIPTION = """\
Print the tables of run folders, finished or still being written, as `gem-env eval` prints them at
its end. It reads the record and the log alone: it makes no environment, asks no server, and
changes nothing.
"""
_EPILOGUE = """\
examples:
  gem-env report runs/my-model
  gem-env report runs/*
  watch -n 10 gem-env report runs/my-model
"""


def add_command(commands: Any) -> None:
    """Add `report` to the commands."""
    parser = commands.add_parser(
        "report",
        help="the tables of run folders, finished or not",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run folder")
    parser.add_argument("--json", action="store_true", help="print a JSON list of summaries")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem_eval.reading import read_summary  # heavy, with what it imports: 0.3 s
    from gem_eval.run_folder import RunFolder
    from gem_eval.table import print_summary

    folders = [RunFolder.open(path) for path in options.runs]
    summaries = [read_summary(folder) for folder in folders]
    if options.json:
        print(json.dumps([summary.to_json() for summary in summaries], indent=2))
        return 0
    for number, (folder, summary) in enumerate(zip(folders, summaries, strict=True)):
        if number:
            print()
        print(one_line(_title(folder, summary)))
        if folder.record.branch is not None:
            print(one_line(f"It branches from {folder.record.branch}."))
        sys.stdout.flush()
        print_summary(summary, sys.stdout, offers_next=False)
    return 0


def _title(folder: RunFolder, summary: Summary) -> str:
    """Say how far a run is. Whether a process still writes it, the age of its last one tells."""
    done = summary.episodes
    planned = summary.planned
    title = f"{folder.path}: {counted(done, 'episode')}"
    is_decided = bool(summary.decisions) and all(
        decision.verdict != "UNDECIDED" for decision in summary.decisions
    )
    if is_decided:
        title = f"{title}, decided"
    elif planned is not None:
        title = f"{folder.path}: {done:,} of {counted(planned, 'episode')}"
    if summary.errors:
        title = f"{title}, {summary.errors} ended by an error"
    if done and planned != done and not is_decided:
        ago_s = max(0.0, time.time() - folder.episodes_path.stat().st_mtime)
        title = f"{title}, the last ended {_duration(ago_s)} ago"
    return title


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
