"""Check one environment, line by line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gem._python.places import raised
from gem.errors import EnvUsageError, GemError
from gem.registry._making import EnvLike, WrapperLike, resolve
from gem.testing import _elsewhere as elsewhere
from gem.testing._report import CheckLine, CheckReport, NotHeldError
from gem.testing._subject import Subject
from gem.testing._table import CHECKS, SEAT_CHECKS, Check

__all__ = ["check_env", "checked"]


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
    lines = checked(env, seeds=seeds, wrappers=wrappers, backends=backends, kwargs=kwargs)
    return CheckReport(resolve(env).id, tuple(lines))


def checked(
    env: EnvLike,
    *,
    kwargs: Mapping[str, Any],
    seeds: Sequence[int] = range(10),
    wrappers: Iterable[WrapperLike] = (),
    backends: Iterable[str] | None = None,
    begin: Callable[[str, str], object] = lambda name, claim: None,
) -> Iterator[CheckLine]:
    """Yield each line, the first one where the environment raised when it was made.

    `begin` is called before each with its name and claim. Raises GemError as `check_env` does.
    """
    begin("made", "it can be made")
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
    except NotHeldError as error:
        yield CheckLine("made", "it can be made", "failed", str(error))
    except BaseException as error:  # noqa: BLE001 - it may raise anything, SystemExit too
        yield CheckLine("made", "it can be made", "failed", raised(error))
    else:
        for check, viewed in _checks_of(subject):
            begin(check.name, check.claim)
            yield check.line(viewed)


def _checks_of(subject: Subject) -> Iterator[tuple[Check, Subject]]:
    """Yield every check in order, with what it is of: those of a seat's view have its name."""
    for check in CHECKS:
        yield check, subject
    if len(subject.seats) > 1:
        for check in SEAT_CHECKS:
            yield check, subject
        for seat in subject.seats:
            view = subject.view(seat)
            for check in CHECKS:
                name = f"{seat}.{check.name}"
                yield check._replace(name=name, claim=f"{seat}: {check.claim}"), view
