"""`gem-env report`: the tables of runs, finished or not. It only reads."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gem.cli import one_line
from gem_eval.wording import counted

if TYPE_CHECKING:
    from gem_eval.run_folder import RunFolder
    from gem_eval.summary import Summary
    from gem_eval.yardsticks import Normalised, Yardstick

__all__ = ["add_command"]

_DESCRIPTION = """\
Print the tables of run folders, finished or still being written, as `gem-env eval` prints them at
its end, and as `gem-env league` and `gem-env noise` do where they are of these. It reads the record
and the logs alone: it makes no environment, asks no server, and changes nothing. With --references
it plays what the scores are to be read beside, once, and keeps that in the run's folder.
"""
_EPILOGUE = """\
examples:
  gem-env report runs/my-model
  gem-env report runs/*
  watch -n 10 gem-env report runs/my-model
  gem-env yardstick game:GuessTheNumber-v0-easy --json > guess.json
  gem-env report runs/guess --yardsticks guess.json
  gem-env report runs/guess --references
"""


def add_command(commands: Any) -> None:
    """Add `report` to the commands."""
    parser = commands.add_parser(
        "report",
        help="the tables of run folders, finished or not",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
    )
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="a run folder, or a log of TRAINING/evaluations"
    )
    parser.add_argument(
        "--yardsticks",
        action="append",
        default=[],
        metavar="FILE",
        help="what `gem-env yardstick ID --json` printed: adds the return where random play is 0 "
        "and the best play 1; may be given several times",
    )
    parser.add_argument(
        "--references",
        action="store_true",
        help="where the run has none, play `noop` (or what a pack declares as the floor), `random` "
        "and `solver` on its episodes, and show their rows",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list of summaries")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem_eval.cli.noise import show_noise
    from gem_eval.cli.stdout import json_alone
    from gem_eval.evaluation_logs import open_run
    from gem_eval.reading import read_summary  # heavy, with what it imports: 0.3 s
    from gem_eval.table import print_summary
    from gem_eval.yardsticks import read_yardstick

    yardsticks = [read_yardstick(path) for path in options.yardsticks]
    folders = [open_run(path) for path in options.runs]
    with json_alone(options.json):
        if options.references:
            _play_references(folders)
    summaries = [read_summary(folder) for folder in folders]
    scales = [
        _normalised(folder, summary, yardsticks)
        for folder, summary in zip(folders, summaries, strict=True)
    ]
    if options.json:
        reports = [_report(*each) for each in zip(folders, summaries, scales, strict=True)]
        print(json.dumps(reports, indent=2))
        return 0
    shown = zip(folders, summaries, scales, strict=True)
    for number, (folder, summary, scale) in enumerate(shown):
        if number:
            print()
        print(one_line(_title(folder, summary)))
        if folder.record.branch is not None:
            print(one_line(f"It branches from {folder.record.branch}."))
        sys.stdout.flush()
        if folder.record.league is not None:
            # Who beat whom says it all; a table of each pair would be as long as all of that.
            _print_league(folder)
            continue
        print_summary(summary, sys.stdout, offers_next=False, normalised=scale)
        if folder.record.noise is not None:
            show_noise(folder)
    return 0


def _print_league(folder: RunFolder) -> None:
    from gem_eval.leagues.printing import print_standings
    from gem_eval.leagues.reading import read_standings

    standings = read_standings(folder)
    print_standings(standings, sys.stdout, run=str(folder.path), offers_next=False)


def _play_references(folders: Sequence[RunFolder]) -> None:
    from gem.cli import find_modules_here
    from gem_eval.errors import RunFolderError
    from gem_eval.interrupts import run_to_end
    from gem_eval.references import references_for

    find_modules_here()
    for folder in folders:
        if not folder.has_name:
            raise RunFolderError(
                f"{folder.path} was to be given references, and it is the log of a training's "
                "evaluation, which has no place for them. Leave --references out, or evaluate "
                f"the checkpoint: --policy baseline:{folder.path.parent.parent}.",
                path=str(folder.path),
            )
        run_to_end(references_for(folder))


def _normalised(
    folder: RunFolder, summary: Summary, yardsticks: Sequence[Yardstick]
) -> Normalised | None:
    from gem_eval.yardsticks import normalised

    if not yardsticks:
        return None
    record = folder.record
    return normalised(
        record.settings, summary.results, yardsticks, is_branch=record.branch is not None
    )


def _report(folder: RunFolder, summary: Summary, scale: Normalised | None) -> dict[str, Any]:
    """Return a summary as JSON data, with the normalised returns where they were asked for.

    That of a league has its standings, too, and that of a run that splits noise has whose it is.
    """
    report = summary.to_json()
    if folder.record.league is not None:
        from gem_eval.leagues.reading import read_standings

        report["league"] = read_standings(folder).model_dump(mode="json")
    if folder.record.noise is not None:
        from gem_eval.cli.noise import noise_json

        report["noise"] = noise_json(folder)
    if scale is not None:
        for result, scaled in zip(report["results"], scale.scaled, strict=True):
            result["normalised_return"] = None if scaled is None else scaled.value
            result["normalised_return_ci95"] = None if scaled is None else scaled.ci95
    return report


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
