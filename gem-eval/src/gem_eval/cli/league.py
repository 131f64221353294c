"""`gem-env league`: policies play each other, and are ranked where one number can rank them.

Exit status: as of `gem-env eval`.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from gem_eval.cli.options import add_how, add_which

if TYPE_CHECKING:
    from gem_eval.job import Job
    from gem_eval.summary import Summary

__all__ = ["add_command"]

_COMMAND = "gem-env league"
_DESCRIPTION = """\
Let policies play each other in an environment of several seats: all pairs, each seed in every
rotation. It prints a ranking with 95% intervals, who beats whom, and a warning where policies beat
each other in a circle, so that one number cannot rank them. Every game is kept in a run folder, as
of `gem-env eval`: --resume goes on, `gem-env replay` plays each again, `gem-env view` shows all.
--episodes counts seeds. A policy that fails forfeits the game, which counts apart. The exit status
is as of `gem-env eval`.
"""
_EPILOGUE = """\
examples:
  gem-env league game:Nim-v0 --policy solver --policy random --policy noop --episodes 50
  gem-env league game:TicTacToe-v0 --policy openai:old@http://localhost:8000/v1 \\
      --policy openai:new@http://localhost:8001/v1 --policy solver --out runs/league
  gem-env league --resume runs/league --episodes 200
  gem-env report runs/league
"""


def add_command(commands: Any) -> None:
    """Add `league` to the commands."""
    parser = commands.add_parser(
        "league",
        help="let policies play each other, and rank them",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
        argument_default=argparse.SUPPRESS,
    )
    add = parser.add_argument
    add("envs", nargs="?", metavar="ID|TARGET", help="an environment of two seats or more")
    add(
        "--policy",
        action="append",
        metavar="P",
        help="a policy, as of `gem-env eval`; two of them or more",
    )
    add_which(parser)
    add(
        "--forfeits",
        choices=("apart", "lose"),
        help="what a game counts that a policy did not play on in: nothing but a forfeit, or that "
        "it lost. Default: apart",
    )
    add(
        "--line-ups",
        type=int,
        metavar="N",
        help="of more than two seats: play so many line-ups at most, chosen so that all policies "
        "play equally often. Default: 500",
    )
    add_how(parser)
    add("--out", metavar="DIR", help="the run folder, new or empty. Default: runs/DATE-TIME")
    add(
        "--resume",
        metavar="DIR",
        help="play what this league lacks and what ended by an error or a forfeit there; a larger "
        "--episodes extends it",
    )
    add(
        "--fail-on-error",
        action="store_true",
        help="exit with status 1 if a game ended by an error",
    )
    add("--json", action="store_true", help="print the standings as JSON, and nothing else")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem_eval.cli.eval import Figures, run_typed  # heavy: 0.3 s

    return run_typed(options, _job, command=_COMMAND, figures=Figures(_show, _to_json))


def _job(given: dict[str, Any]) -> Job:
    from gem_eval.cli.config import arguments
    from gem_eval.errors import LeagueError, SettingsError
    from gem_eval.leagues.league import continued, started
    from gem_eval.leagues.pairings import MOST_LINE_UPS

    policies = given.pop("policy", None)
    forfeits = given.pop("forfeits", None)
    line_ups = given.pop("line_ups", None)
    values = arguments(given)
    if policies is not None:
        values["policies"] = policies
    out = values.pop("out", None)
    folder = values.pop("resume", None)
    if folder is None:
        if not values.get("envs"):
            raise LeagueError(
                f"{_COMMAND} needs an environment's id, or --resume DIR. See `{_COMMAND} --help`."
            )
        return started(
            values,
            out=out,
            command=["gem-env", *sys.argv[1:]],
            forfeits=forfeits or "apart",
            line_ups=MOST_LINE_UPS if line_ups is None else line_ups,
        )
    if out is not None:
        raise SettingsError(
            f"--out {out} and --resume {folder} were given. A resumed league stays in its folder: "
            "leave --out away.",
            option="out",
        )
    for name, value in (("--forfeits", forfeits), ("--line-ups", line_ups)):
        if value is not None:
            raise LeagueError(
                f"{name} {value} and --resume {folder} were given, and a league goes on as it "
                f"began. Leave {name} away."
            )
    return continued(folder, values)


def _show(job: Job, summary: Summary, offers_next: bool) -> None:
    from gem_eval.leagues.printing import print_standings
    from gem_eval.leagues.reading import read_standings

    if offers_next:  # it has been played
        standings = _finished(job, summary)
    else:
        standings = read_standings(job.folder)
    print_standings(standings, sys.stdout, run=str(job.folder.path), offers_next=offers_next)


def _to_json(job: Job, summary: Summary) -> Any:
    return {"run": str(job.folder.path), **_finished(job, summary).model_dump(mode="json")}


def _finished(job: Job, summary: Summary) -> Any:
    from gem_eval.evaluation import Evaluation
    from gem_eval.leagues.league import stood

    return stood(Evaluation(job.folder, summary), job).standings
