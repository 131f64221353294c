"""`gem-env eval`: run policies on environments and show the figures.

Exit status: 0 done; 1 if the run could not go on, if every episode of a policy on an environment
ended by an error, or with --fail-on-error if any did; 2 wrong use; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from gem.cli import find_modules_here, one_line
from gem_eval.cli.config import arguments, read_config
from gem_eval.cli.progress import progress
from gem_eval.errors import RunStopped, SettingsError
from gem_eval.interrupts import run_to_end
from gem_eval.job import Job, continued, started
from gem_eval.summary import Summary

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Evaluate what the options say and return the exit status."""
    given = _given(options)
    path = given.pop("config", None)
    if path is not None:
        given = {**read_config(path), **given}
    as_json = given.pop("json", False)
    fails_on_error = given.pop("fail_on_error", False)
    find_modules_here()
    job = _job(given)
    if job.changed:
        print(f"gem-env eval: {one_line(job.changed)}", file=sys.stderr)
    try:
        return _run(job, as_json=as_json, fails_on_error=fails_on_error)
    finally:
        job.close()


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the command line gives; the list of environments is empty where it is absent."""
    return {name: value for name, value in vars(options).items() if name != "run" and value != []}


def _job(options: Mapping[str, Any]) -> Job:
    given = arguments(options)
    out = given.pop("out", None)
    folder = given.pop("resume", None)
    if folder is None:
        for name, what in (("envs", "an environment's id"), ("policies", "--policy")):
            if not given.get(name):
                raise SettingsError(
                    f"gem-env eval needs {what}, or --resume DIR. See `gem-env eval --help`.",
                    option=name,
                )
        return started(given, out=out, command=["gem-env", *sys.argv[1:]])
    if out is not None:
        raise SettingsError(
            f"--out {out} and --resume {folder} were given. A resumed run stays in its folder: "
            "leave --out away.",
            option="out",
        )
    return continued(folder, given)


def _run(job: Job, *, as_json: bool, fails_on_error: bool) -> int:
    try:
        summary = run_to_end(_shown(job, hidden=as_json))
    except RunStopped as error:
        _show_what_is_there(job, as_json=as_json)
        print(f"gem-env eval: {one_line(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        _show_what_is_there(job, as_json=as_json)
        print(_interrupted(job), file=sys.stderr)
        return 130
    if as_json:
        print(json.dumps(summary.to_json(), indent=2))
    else:
        _show(summary)
    return _status(summary, fails_on_error=fails_on_error)


def _status(summary: Summary, *, fails_on_error: bool) -> int:
    if fails_on_error and summary.errors:
        return 1
    tells_nothing = any(0 < result.episodes == result.errors for result in summary.results)
    return 1 if tells_nothing else 0


def _show_what_is_there(job: Job, *, as_json: bool) -> None:
    """Show the table of a run that did not end. Half a run is no JSON that anybody asked for."""
    if job.kept and not as_json:
        _show(job.so_far(), offers_next=False)
        sys.stdout.flush()  # before the line on stderr, where both go to one place


async def _shown(job: Job, *, hidden: bool) -> Summary:
    with progress(job, hidden=hidden) as on_episode:
        return await job.run(on_episode)


def _interrupted(job: Job) -> str:
    folder = shlex.quote(str(job.folder.path))
    return (
        f"gem-env eval: interrupted. {job.kept} of {job.total} episodes are kept in "
        f"{job.folder.path}. Go on with: gem-env eval --resume {folder}"
    )


def _show(summary: Summary, *, offers_next: bool = True) -> None:
    from gem_eval.table import print_summary

    print_summary(summary, sys.stdout, offers_next=offers_next)
