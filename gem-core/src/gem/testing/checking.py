"""Check one environment, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gem.registry import EnvLike, WrapperLike
from gem.testing.report import CheckReport
from gem.testing.subject import Subject
from gem.testing.table import CHECKS

__all__ = ["check_env"]


def check_env(
    env: EnvLike,
    *,
    seeds: Sequence[int] = range(10),
    wrappers: Iterable[WrapperLike] = (),
    **kwargs: Any,
) -> CheckReport:
    """Check how an environment behaves: each line passed, failed with evidence, or skipped.

    Whatever the environment raises fails a line and never leaves this function; where it cannot
    be made, or its data is absent, what `gem.make` and `reset` raise does (GemError). Takes
    about two seconds where an episode takes milliseconds, one of them for another process.

    >>> import gem
    >>> _ = gem.register("demo:Guess", "gem.testing.envs:Guess")
    >>> check_env("demo:Guess").is_good
    True
    """
    subject = Subject(env, seeds=seeds, wrappers=wrappers, kwargs=kwargs)
    return CheckReport(subject.spec.id, tuple(check.line(subject) for check in CHECKS))
