"""`gem-env noise`: play a run whose noise can be split between agent, user and judge.

Exit status: as of `gem-env eval`; 1 too where too few tasks were played whole to split anything.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from gem_eval.cli.options import add_how, add_which

if TYPE_CHECKING:
    from gem_eval.job import Job
    from gem_eval.run_folder import RunFolder
    from gem_eval.summary import Summary

__all__ = ["add_command", "noise_json", "show_noise"]

_COMMAND = "gem-env noise"
_DESIGN = ("agents", "users", "judges")
_DESCRIPTION = """\
Say whose noise a score has: how much of what it differs by from run to run is the agent's, the
user's, the judge's, and how much is owed to which tasks were drawn. Each task is played with every
seed of the agent against every seed of the user, and each episode is graded again by taking its
recorded actions again. It prints the table of `gem-env eval`, then each source as a standard
deviation of the mean in points, with a 95% interval, and what helps most against it. Every episode
is kept in a run folder: --resume goes on after a kill, `gem-env report` prints the same again.
--episodes counts tasks (20). The exit status is as of `gem-env eval`.
"""
_EPILOGUE = """\
examples:
  gem-env noise agents:ServiceOfTwo-v0 --policy agent=openai:my-model@http://localhost:8000/v1 \\
      --policy user=openai:its-user@http://localhost:8001/v1 --episodes 40 --out runs/noise
  gem-env noise agents:Service-v0 --policy openai:my-model@http://localhost:8000/v1 --agents 8
  gem-env noise --resume runs/noise --episodes 80
  gem-env report runs/noise
"""


def add_command(commands: Any) -> None:
    """Add `noise` to the commands."""
    parser = commands.add_parser(
        "noise",
        help="split the run-to-run noise of a score between agent, user and judge",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
        argument_default=argparse.SUPPRESS,
    )
    add = parser.add_argument
    add("envs", nargs="?", metavar="ID|TARGET", help="an environment of one seat or of two")
    add(
        "--policy",
        action="append",
        metavar="[SEAT=]P",
        help="a policy, as of `gem-env eval`; of two seats one for each, first the one whose score "
        "counts: --policy agent=P --policy user=Q",
    )
    add(
        "--agents",
        type=int,
        metavar="K",
        help="seeds of the player whose score counts, on each task. Default: 4",
    )
    add(
        "--users",
        type=int,
        metavar="K",
        help="seeds of the other player, where there are two seats; each plays with every seed of "
        "the first. Default: 4",
    )
    add(
        "--judges",
        type=int,
        metavar="K",
        help="how often each episode is graded; its recorded actions are taken again. Default: 2",
    )
    add_which(parser, has_repeats=False)
    add_how(parser)
    add("--out", metavar="DIR", help="the run folder, new or empty. Default: runs/DATE-TIME")
    add(
        "--resume",
        metavar="DIR",
        help="play and grade what this run lacks; a larger --episodes extends it",
    )
    add(
        "--fail-on-error",
        action="store_true",
        help="exit with status 1 if an episode ended by an error",
    )
    add(
        "--json",
        action="store_true",
        help="print the summary and the noise as JSON, and nothing else",
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem_eval.cli.eval import Figures, run_typed  # heavy: 0.3 s

    figures = Figures(_show, _to_json, _tell_something)
    return run_typed(options, _job, command=_COMMAND, figures=figures)


def _job(given: dict[str, Any]) -> Job:
    from gem_eval.cli.config import arguments
    from gem_eval.errors import NoiseError, SettingsError
    from gem_eval.variance.crossing import continued, started

    design = {name: given.pop(name) for name in _DESIGN if name in given}
    values = arguments(given)
    out = values.pop("out", None)
    folder = values.pop("resume", None)
    if folder is None:
        for name, what in (("envs", "an environment's id"), ("policies", "--policy")):
            if not values.get(name):
                raise NoiseError(
                    f"{_COMMAND} needs {what}, or --resume DIR. See `{_COMMAND} --help`."
                )
        command = ["gem-env", *sys.argv[1:]]
        return started(values, out=out, command=command, **design)
    if out is not None:
        raise SettingsError(
            f"--out {out} and --resume {folder} were given. A resumed run stays in its folder: "
            "leave --out away.",
            option="out",
        )
    for name, value in design.items():
        raise NoiseError(
            f"--{name} {value} and --resume {folder} were given, and a run goes on with the seeds "
            f"it began with. Leave --{name} away."
        )
    return continued(folder, values)


def _show(job: Job, summary: Summary, offers_next: bool) -> None:
    from gem_eval.table import next_lines, print_summary

    print_summary(summary, sys.stdout, offers_next=False)
    show_noise(job.folder)
    if offers_next:
        print(*next_lines(summary), sep="\n")


def show_noise(folder: RunFolder) -> None:
    """Print whose noise the score of a run has, or in a line why that cannot be said."""
    from gem.cli import one_line
    from gem_eval.errors import NoiseError
    from gem_eval.variance.printing import print_noise
    from gem_eval.variance.reading import read_noise

    print()
    try:
        print_noise(read_noise(folder), sys.stdout)
    except NoiseError as error:
        print(one_line(str(error)))


def noise_json(folder: RunFolder) -> Any:
    """Return the same as JSON data; None where it cannot be said."""
    from gem_eval.errors import NoiseError
    from gem_eval.variance.reading import read_noise

    try:
        return read_noise(folder).model_dump(mode="json")
    except NoiseError:
        return None


def _to_json(job: Job, summary: Summary) -> Any:
    return {**summary.to_json(), "noise": noise_json(job.folder)}


def _tell_something(job: Job) -> bool:
    """Whether enough tasks were played whole to split their noise."""
    return noise_json(job.folder) is not None
