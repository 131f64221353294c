"""`gem-env branch`: play on from a turn of a recorded episode by another policy."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gem_eval.branching.origin import Origin

__all__ = ["add_command"]

_DESCRIPTION = """\
Play on from a turn of a recorded episode, and keep the children in a run folder of their own. The
turns before it are taken again as they were recorded and compared step by step; from it on a
policy plays, --repeats times, sampling anew each time: the table says how often it succeeds from
there, with its interval. The children replay, report and resume as any run does.
The exit status is that of `gem-env eval`.
"""
_EPILOGUE = """\
examples:
  gem-env branch runs/games 412 --turn 5 --policy solver
  gem-env branch runs/games 412 --turn 5 --policy openai:my-model@http://localhost:8000/v1 \\
      --repeats 20 --out runs/from-turn-5
  gem-env branch runs/games 9f03c1 --turn 1 --policy random --policy solver --repeats 50
"""


def add_command(commands: Any) -> None:
    """Add `branch` to the commands."""
    parser = commands.add_parser(
        "branch",
        help="play on from a turn of a recorded episode by another policy",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
        argument_default=argparse.SUPPRESS,
    )
    add = parser.add_argument
    add("run_path", metavar="RUN", help="a run folder, finished or still being written")
    add(
        "episode",
        metavar="EPISODE",
        help="its line in the log, from 1, as `find` and `compare` show it; or how its fingerprint "
        "begins",
    )
    add(
        "--turn",
        type=_from_one,
        required=True,
        metavar="N",
        help="the first turn that is played anew, from 1",
    )
    add(
        "--policy",
        action="append",
        required=True,
        metavar="P",
        help="who plays on, as `eval` names it; may be given several times",
    )
    add("--policy-kwargs", metavar="JSON", help="arguments of policies, as of `eval`")
    add(
        "--repeats",
        type=_from_one,
        default=1,
        metavar="K",
        help="children of each policy, each of which samples anew (default 1)",
    )
    add("--max-turns", type=_from_one, metavar="N", help="turns in all (default: as of the run)")
    add("--concurrency", type=_from_one, metavar="C", help="children in flight at once (64)")
    add("--out", metavar="DIR", help="the run folder, new or empty (default: runs/DATE-TIME)")
    add(
        "--fail-on-error",
        action="store_true",
        help="exit with status 1 if a child ends by an error",
    )
    add("--json", action="store_true", help="print the summary as JSON, and nothing else")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem.cli import find_modules_here, one_line
    from gem_eval.branching.branch import origin_of  # heavy, with what it imports: 0.3 s
    from gem_eval.cli.config import arguments
    from gem_eval.cli.eval import run_job
    from gem_eval.cli.stdout import json_alone
    from gem_eval.opening import branched

    given = vars(options)
    find_modules_here()
    as_json = "json" in given
    with json_alone(as_json) as out:
        taken = ("policy", "policy_kwargs", "concurrency")
        values = arguments({name: given[name] for name in taken if name in given})
        origin, settings = origin_of(
            options.run_path,
            options.episode,
            turn=options.turn - 1,
            max_turns=given.get("max_turns"),
        )
        job = branched(
            {**settings, **values, "episodes": options.repeats},
            origin=origin,
            out=given.get("out"),
            command=["gem-env", *sys.argv[1:]],
        )
        if not as_json:
            print(one_line(_parent(origin)), flush=True)
        return run_job(
            job,
            out,
            values,
            as_json=as_json,
            fails_on_error="fail_on_error" in given,
            command="gem-env branch",
        )


def _parent(origin: Origin) -> str:
    """Say in one line what is branched from, and how it went there."""
    from gem_eval.wording import counted

    parent = origin.parent
    outcome = {True: "solved", False: "not solved", None: "an error"}[parent.success]
    return (
        f"Branches from {origin.record}: {counted(len(parent.turns), 'turn')}, "
        f"return {parent.total_reward:g}, {outcome}."
    )


def _from_one(text: str) -> int:
    is_number = text.isascii() and text.isdecimal() and len(text) < 10
    if not is_number or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is no whole number from 1 on")
    return int(text)
