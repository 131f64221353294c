"""`gem-env compare`: whether one policy is better than another, by the tasks both have played."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any

__all__ = ["add_command"]

_DESCRIPTION = """\
Compare policies of run folders with the first of them that has a pair with another, or with
--baseline. Episodes pair by what they played: environment, arguments, seed and task, and of several
seats the seat, where each policy of a line-up is compared; what does not pair is counted and named.

The verdict on each is a word: BETTER and WORSE where a test tells it from the baseline at 5% (with
Holm's correction where there are several), SAME where the whole interval is within --tolerance, and
UNDECIDED. The test is exact, or samples where there is too much to count. The exit status is 0, 1
if any is WORSE, and else 3 if any is UNDECIDED or has no pair; 2 where nothing pairs.
"""
_EPILOGUE = """\
examples:
  gem-env compare runs/before runs/after
  gem-env compare runs/games --baseline random
  gem-env compare runs/before runs/after --tolerance 0.02 --json
  gem-env compare runs/* --policy my-model --metric return
  gem-env compare runs/duel --seat first
"""
_STATUS = {"BETTER": 0, "SAME": 0, "WORSE": 1, "UNDECIDED": 3}


def add_command(commands: Any) -> None:
    """Add `compare` to the commands."""
    parser = commands.add_parser(
        "compare",
        help="say whether a policy is better than another, by the tasks both have played",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
    )
    add = parser.add_argument
    add(
        "runs",
        nargs="+",
        metavar="RUN",
        help="a run folder, finished or still being written, or a log of TRAINING/evaluations",
    )
    add("--policy", action="append", metavar="P", help="compare this policy alone (repeatable)")
    add(
        "--seat",
        metavar="SEAT",
        help="of several seats: compare what was done at this one alone (default: at each the "
        "same seeds)",
    )
    add("--baseline", metavar="NAME", help="the policy or run to compare with")
    add(
        "--metric",
        choices=("success", "return"),
        default="success",
        help="what decides (default: success)",
    )
    add(
        "--tolerance",
        type=_tolerance,
        metavar="T",
        help="a difference that does not matter, in the metric's unit: 0.02 is two points",
    )
    add("--flips", type=_count, default=10, metavar="N", help="flipped episodes shown (default 10)")
    add("--json", action="store_true", help="print the comparison as JSON, with every flip")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem_eval.comparing.comparison import compare  # heavy, with what it imports: 0.3 s
    from gem_eval.comparing.printing import print_comparison

    comparison = compare(
        options.runs,
        policies=options.policy,
        baseline=options.baseline,
        metric=options.metric,
        tolerance=options.tolerance,
        seat=options.seat,
    )
    if options.json:
        print(json.dumps(comparison.to_json(), indent=2, allow_nan=False))
    else:
        print_comparison(comparison, sys.stdout, flips=options.flips)
    return _STATUS[comparison.verdict]


def _tolerance(text: str) -> float:
    try:
        tolerance = float(text)
    except ValueError:
        tolerance = math.nan
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 on, such as 0.02")
    return tolerance


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)
