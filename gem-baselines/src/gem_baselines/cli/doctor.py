"""`gem-env doctor`: what is wrong with a training, by what it left.

Exit status: 0 nothing but notes; 1 something is wrong or suspect; 2 wrong use.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

__all__ = ["add_command"]

_DESCRIPTION = """\
Read a training and say what is wrong with it, in words and with evidence: a mask, a reward or an
advantage in the wrong place, tokens that are not those that were played, sampler and learner that
compute otherwise, groups that are all right or all wrong, an entropy that collapses, answers that
grow, a reward that does not hold on held-out episodes. It reads what `gem-env train` left,
finished or not, and the output folder of a TRL trainer, where fewer checks can look. Nothing is
trained, and nothing played but with --replay. The exit status is 1 if something is wrong or
suspect.
"""
_EPILOGUE = """\
examples:
  gem-env doctor runs/guess
  gem-env doctor runs/guess --replay
  gem-env doctor runs/guess --json
  gem-env doctor trl-output
"""


def add_command(commands: Any) -> None:
    """Add `doctor` to the commands."""
    parser = commands.add_parser(
        "doctor",
        help="what is wrong with a training: masks, credit, logprobs, collapse",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
    )
    add = parser.add_argument
    add("run_folder", metavar="RUN", help="a training folder, or the output folder of TRL")
    add(
        "--replay",
        action="store_true",
        help="also take the actions of each sampled episode again in its environment, and compare",
    )
    add("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    import shutil

    from gem.cli import find_modules_here
    from gem_baselines.doctor.diagnosis import diagnosed  # heavy, with what it imports: numpy
    from gem_baselines.doctor.opening import open_run
    from gem_baselines.doctor.printing import lines_of
    from gem_baselines.doctor.replaying import REPLAY
    from gem_baselines.doctor.rules import CHECKS

    checks = CHECKS
    if options.replay:
        find_modules_here()
        checks = (*CHECKS, REPLAY)
    found = diagnosed(open_run(options.run_folder), checks)
    if options.json:
        print(json.dumps(found.to_json(), indent=2, allow_nan=False))
    else:
        print("\n".join(lines_of(found, shutil.get_terminal_size((100, 24)).columns)))
    return 0 if found.is_healthy else 1
