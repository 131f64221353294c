"""`gem-env eval`: run policies on environments and show the figures.

Exit status: 0 done; 1 if the run could not go on, if every episode of a policy on an environment
ended by an error, with --fail-on-error if any did, or with --dry-run if an environment fails; 2
wrong use; 3 if --until came to no decision; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import IO, Any, NamedTuple

from gem.cli import find_modules_here, one_line
from gem_eval.cli.config import arguments, read_config
from gem_eval.cli.progress import progress
from gem_eval.cli.stdout import json_alone
from gem_eval.errors import RunStopped, SettingsError
from gem_eval.interrupts import run_to_end
from gem_eval.job import Job
from gem_eval.opening import continued, started
from gem_eval.summary import Summary

__all__ = ["Figures", "run", "run_job", "run_typed"]


class Figures(NamedTuple):
    """How what a job came to is shown: as tables, or as JSON data."""

    show: Callable[[Job, Summary, bool], None]
    """Prints them; the last argument says whether to offer what to run next."""
    to_json: Callable[[Job, Summary], Any]
    tell_something: Callable[[Job], bool] = lambda _: True
    """Whether they tell anything of a job that ended; where not, the exit status is 1."""


def run(options: argparse.Namespace) -> int:
    """Evaluate what the options say and return the exit status."""
    values = _values(options)
    path = values.pop("config", None)
    if path is not None:
        values = {**read_config(path), **values}
    as_json = values.pop("json", False)
    fails_on_error = values.pop("fail_on_error", False)
    find_modules_here()
    with json_alone(as_json) as out:
        if values.pop("dry_run", False):
            return _dry_run(values, out, as_json=as_json)
        return run_job(_job(values), out, values, as_json=as_json, fails_on_error=fails_on_error)


def run_typed(
    options: argparse.Namespace,
    job_of: Callable[[dict[str, Any]], Job],
    *,
    command: str,
    figures: Figures,
) -> int:
    """Run the job that was typed with another command, and return the exit status.

    `job_of` makes it of the options, less those that say how its figures are shown.
    """
    values = _values(options)
    as_json = values.pop("json", False)
    fails_on_error = values.pop("fail_on_error", False)
    find_modules_here()
    with json_alone(as_json) as out:
        return run_job(
            job_of(values),
            out,
            values,
            as_json=as_json,
            fails_on_error=fails_on_error,
            command=command,
            figures=figures,
        )


def _values(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the command line gives; the list of environments is empty where it is absent."""
    return {name: value for name, value in vars(options).items() if name != "run" and value != []}


def _dry_run(options: Mapping[str, Any], out: IO[str], *, as_json: bool) -> int:
    from gem_eval.cli.dry_run import dry_run

    values = arguments(options)
    values.pop("out", None)
    folder = values.pop("resume", None)
    if folder is not None:
        raise SettingsError(
            f"--dry-run and --resume {folder} were given, and a dry run is of a new run. "
            f"`gem-env report {shlex.quote(folder)}` shows how far that one is.",
            option="dry_run",
        )
    _refuse_nothing(values)
    return dry_run(values, out, as_json=as_json)


def _refuse_nothing(values: Mapping[str, Any]) -> None:
    for name, what in (("envs", "an environment's id"), ("policies", "--policy")):
        if not values.get(name):
            raise SettingsError(
                f"gem-env eval needs {what}, or --resume DIR. See `gem-env eval --help`.",
                option=name,
            )


def _job(options: Mapping[str, Any]) -> Job:
    values = arguments(options)
    out = values.pop("out", None)
    folder = values.pop("resume", None)
    if folder is None:
        _refuse_nothing(values)
        return started(values, out=out, command=["gem-env", *sys.argv[1:]])
    if out is not None:
        raise SettingsError(
            f"--out {out} and --resume {folder} were given. A resumed run stays in its folder: "
            "leave --out away.",
            option="out",
        )
    return continued(folder, values)


def run_job(
    job: Job,
    out: IO[str],
    given: Mapping[str, Any],
    *,
    as_json: bool,
    fails_on_error: bool,
    command: str = "gem-env eval",
    figures: Figures | None = None,
) -> int:
    """Run what a job lacks, show its figures, close it, and return the exit status.

    JSON goes to `out`, which `json_alone` keeps free of all else. `given` are the settings that
    were typed with `command`, whose name is for what goes to stderr. `figures` are those of a
    summary, unless others are given.
    """
    figures = figures or Figures(_show, lambda _, summary: summary.to_json())
    with closing(job):
        if job.changed:
            print(f"{command}: {one_line(job.changed)}", file=sys.stderr)
        _say_one_at_a_time(job, given, command)
        return _finish(
            job, out, figures, as_json=as_json, fails_on_error=fails_on_error, command=command
        )


def _finish(
    job: Job,
    out: IO[str],
    figures: Figures,
    *,
    as_json: bool,
    fails_on_error: bool,
    command: str,
) -> int:
    try:
        summary = run_to_end(_run_with_progress(job, hidden=as_json or job.uses_screen))
    except RunStopped as error:
        _show_what_is_there(job, figures, as_json=as_json)
        _show_tracking(job, command)
        print(f"{command}: {one_line(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        _show_what_is_there(job, figures, as_json=as_json)
        _show_tracking(job, command)
        print(_interrupted(job, command), file=sys.stderr)
        return 130
    if as_json:
        print(json.dumps(figures.to_json(job, summary), indent=2), file=out)
    else:
        figures.show(job, summary, True)
        sys.stdout.flush()  # before the lines on stderr
    _show_tracking(job, command)
    status = _status(summary, fails_on_error=fails_on_error)
    if status == 0 and not figures.tell_something(job):
        return 1
    return status


def _say_one_at_a_time(job: Job, values: Mapping[str, Any], command: str) -> None:
    """Say that a person plays one episode at a time, if more were asked for."""
    concurrency = values.get("concurrency")
    if job.uses_screen and concurrency is not None and concurrency > 1:
        print(
            f"{command}: --concurrency {concurrency} was asked for, and a person plays one "
            "episode at a time.",
            file=sys.stderr,
        )


def _status(summary: Summary, *, fails_on_error: bool) -> int:
    if fails_on_error and summary.errors:
        return 1
    tells_nothing = any(0 < result.episodes == result.errors for result in summary.results)
    if tells_nothing:
        return 1
    is_open = any(decision.verdict == "UNDECIDED" for decision in summary.decisions)
    return 3 if is_open else 0


def _show_what_is_there(job: Job, figures: Figures, *, as_json: bool) -> None:
    """Show the table of a run that did not end. Half a run is no JSON that anybody asked for."""
    if job.kept and not as_json:
        figures.show(job, job.so_far(), False)
        sys.stdout.flush()  # before the line on stderr, where both go to one place


def _show_tracking(job: Job, command: str) -> None:
    for problem in job.tracking.problems:
        print(f"{command}: {one_line(problem)}", file=sys.stderr)


async def _run_with_progress(job: Job, *, hidden: bool) -> Summary:
    with progress(job, hidden=hidden) as on_episode:
        return await job.run(on_episode)


def _interrupted(job: Job, command: str) -> str:
    folder = shlex.quote(str(job.folder.path))
    return (
        f"{command}: interrupted. {job.kept} of {job.total} episodes are kept in "
        f"{job.folder.path}. Go on with: {job.command} --resume {folder}"
    )


def _show(_: Job, summary: Summary, offers_next: bool) -> None:
    from gem_eval.table import print_summary

    print_summary(summary, sys.stdout, offers_next=offers_next)
