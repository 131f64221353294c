"""The conformance lines as tests. Needs no pytest to import, only to run."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from gem.errors import DataError, MissingRequirement
from gem.registry._making import EnvLike, WrapperLike
from gem.testing._subject import Subject, is_for_want
from gem.testing._table import CHECKS, SEAT_CHECKS, Check

__all__ = ["EnvContract", "SeatedEnvContract"]


class EnvContract:
    """Subclass this in a test module, name the environment, and pytest runs one test a line.

    A line that does not apply is a skipped test. So is every line of an environment that lacks
    what its spec says that it needs: packages, a data set of a hub, what its probe looks for. One
    whose own data file is missing or malformed fails.

        class TestGuess(EnvContract):
            env_id = "acme:Guess-v0"
    """

    env_id: EnvLike
    """The environment: an id, or a spec."""
    env_kwargs: ClassVar[Mapping[str, Any]] = {}
    """Arguments to make it with."""
    wrappers: ClassVar[Sequence[WrapperLike]] = ()
    """Wrappers around it, the innermost first."""
    seeds: ClassVar[Sequence[int]] = range(10)
    """The seeds that the lines play."""
    backends: ClassVar[Sequence[str] | None] = None
    """The backends that it is compared on; None: every one that is installed."""
    seat: ClassVar[int | str | None] = None
    """Of several seats, the one whose view is checked; None for the environment of all."""

    def subject(self) -> Subject:
        """Return what is checked. Override to build it in another way."""
        subject = Subject(
            self.env_id,
            seeds=self.seeds,
            wrappers=self.wrappers,
            kwargs=self.env_kwargs,
            backends=self.backends,
        )
        return subject if self.seat is None else subject.view(self.seat)

    _kept: ClassVar[Subject]

    def _prepared(self) -> Subject:
        """Return the subject, kept for the class: its lines share their plays."""
        kind = type(self)
        # A class's own: one that is inherited is of another environment.
        if "_kept" not in vars(kind):
            try:
                kind._kept = self.subject()
            except (MissingRequirement, DataError) as error:
                if not is_for_want(error, self.env_id, self.env_kwargs):
                    raise
                raise unittest.SkipTest(str(error)) from error
        return kind._kept


def _as_test(check: Check) -> Callable[[EnvContract], None]:
    def test(self: EnvContract) -> None:
        line = check.line(self._prepared())
        if line.state == "skipped":
            raise unittest.SkipTest(line.evidence)
        if line.state != "passed":  # no `assert`, which `python -O` leaves out
            raise AssertionError(f"{line.claim}: {line.evidence}")

    test.__name__ = f"test_{check.name}"
    test.__qualname__ = f"{EnvContract.__name__}.{test.__name__}"
    test.__doc__ = check.claim
    return test


for _check in CHECKS:
    setattr(EnvContract, f"test_{_check.name}", _as_test(_check))


class SeatedEnvContract(EnvContract):
    """As `EnvContract`, for an environment of several seats, with the lines on these.

    Beside it an `EnvContract` that names a `seat` is for the view of that one.
    """


for _check in SEAT_CHECKS:
    setattr(SeatedEnvContract, f"test_{_check.name}", _as_test(_check))
