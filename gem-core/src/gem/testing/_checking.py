"""Check one environment, line by line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from gem.errors import EnvUsageError, GemError
from gem.registry._making import EnvLike, WrapperLike, resolve
from gem.testing import _elsewhere as elsewhere
from gem.testing._report import CheckLine, CheckReport
from gem.testing._subject import Subject
from gem.testing._table import CHECKS, SEAT_CHECKS, raised

__all__ = ["check_env"]


def check_env(
    env: EnvLike,
    *,
    seeds: Sequence[int] = range(10),
    wrappers: Iterable[WrapperLike] = (),
    backends: Iterable[str] | None = None,
    **kwargs: Any,
) -> CheckReport:
    """Check how an environment behaves: each line passed, failed with evidence, or skipped.

    Whatever the environment raises fails a line and never leaves this function; where it cannot
    be made, or its data is absent, what `gem.make` and `reset` raise does (GemError). It is
    compared on `backends`, or on every one that is installed. Of several seats there are lines
    more, and every line is also for the view of each, which plays against sampled actions. Takes
    about two seconds where an episode takes milliseconds, one of them for another process, and as
    long for each view.

    >>> import gem
    >>> _ = gem.register("demo:Guess", "gem.testing.envs:Guess")
    >>> check_env("demo:Guess").is_good
    True
    """
    # The other process imports the module of the target. A script that checks itself at its top
    # level would check there again, and start a process again, without end.
    if elsewhere.MARK in os.environ:
        raise EnvUsageError(
            f"A check of {resolve(env).id} was asked for in the process that another check of it "
            "started. Put the call under `if __name__ == '__main__':`."
        )
    try:
        subject = Subject(env, seeds=seeds, wrappers=wrappers, kwargs=kwargs, backends=backends)
    except (GemError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - it may raise anything, SystemExit too
        line = CheckLine("made", "it can be made", "failed", raised(error))
        return CheckReport(resolve(env).id, (line,))
    lines = [check.line(subject) for check in CHECKS]
    if len(subject.seats) > 1:
        lines += [check.line(subject) for check in SEAT_CHECKS]
        for name in subject.seats:
            lines += _lines_of_view(subject, name)
    return CheckReport(subject.spec.id, tuple(lines))


def _lines_of_view(subject: Subject, name: str) -> Iterator[CheckLine]:
    """Yield every line on the view of one seat, under its name."""
    view = subject.view(name)
    for check in CHECKS:
        line = check.line(view)
        yield replace(line, name=f"{name}.{line.name}", claim=f"{name}: {line.claim}")
