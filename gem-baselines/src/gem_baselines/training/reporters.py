"""Reporters: whoever is told how a training goes while it goes on, MLflow or another tracker.

They are brought by other distributions and read the training folder. What fails there stops no
training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from gem.errors import in_one_line
from gem.registry import load_target, near
from gem_baselines.errors import ExperimentError

__all__ = ["GROUP", "Reporter", "Reporters"]

GROUP = "gem_baselines.reporters.v1"
"""The group of entry points: functions without arguments, from a name to what makes a reporter."""

_LOG = "tracker-{}.jsonl"  # what a reporter keeps in the folder, and so is known by


class Reporter(Protocol):
    """Tells one tracker of one training. It is made before there is a folder.

    Making it raises GemError where something that it needs is not installed. It keeps what it has
    told in `tracker-NAME.jsonl` of the folder, so that a training that goes on is told on.
    """

    @property
    def problem(self) -> str:
        """What is wrong, in one line; empty where nothing is."""

    def start(self, folder: Path) -> None:
        """Begin to read the training folder, beside the training."""

    def end(self, *, is_finished: bool) -> None:
        """Tell the last figures, and return after a while at most."""


class Reporters:
    """The reporters of one training, by name. Raises ExperimentError on a name that nobody knows.

    `problems` has a line for each that failed.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._failures: dict[str, str] = {}
        known = _installed() if names else {}
        self._reporters = {name: _made(name, known) for name in names}

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, a line for each reporter that failed."""
        found = {name: reporter.problem for name, reporter in self._reporters.items()}
        return tuple(text for text in {**found, **self._failures}.values() if text)

    def go_on(self, folder: Path) -> None:
        """Add those that were told of this training before, as far as they are here."""
        for log in sorted(folder.glob(_LOG.format("*"))):
            name = log.stem.removeprefix("tracker-")
            if name in self._reporters:
                continue
            try:
                self._reporters[name] = _made(name, _installed())
            except Exception as error:  # noqa: BLE001 - a reporter that is gone stops no training
                self._failures[name] = (
                    f"{name} was told of this training before, and cannot be told more: "
                    f"{in_one_line(error)}"
                )

    @contextmanager
    def reporting_on(self, folder: Path) -> Iterator[None]:
        """Have them read a training folder while this is entered."""
        self._each(lambda reporter: reporter.start(folder))
        is_finished = False
        try:
            yield
            is_finished = True
        finally:
            self._each(lambda reporter: reporter.end(is_finished=is_finished))

    def _each(self, act: Callable[[Reporter], None]) -> None:
        for name, reporter in self._reporters.items():
            try:
                act(reporter)
            except Exception as error:  # noqa: BLE001 - a reporter may raise anything
                self._failures[name] = f"{name} failed: {in_one_line(error)}"


def _made(name: str, known: Mapping[str, Callable[[], Reporter]]) -> Reporter:
    if name in known:
        return known[name]()
    if not known:
        what = "Trackers are brought by gem-eval: install it, with the extra of that name."
    else:
        alike = near(name, list(known))
        hint = f"Did you mean {alike[0]!r}? " if alike else ""
        what = f"{hint}There are {', '.join(known)}."
    raise ExperimentError(
        f"The tracker {name!r} was to be told of the training, and nobody here knows it. {what}",
        setting="track",
    )


def _installed() -> dict[str, Callable[[], Reporter]]:
    """Return what makes each reporter that is installed. Raises TargetError on a broken one."""
    found: dict[str, Callable[[], Reporter]] = {}
    for point in entry_points(group=GROUP):
        found |= load_target(point.value)()
    return found
