"""The trackers that there are: ours, each an extra, and those that packs add by an entry point.

Nothing is imported here: a tracker is loaded in a process of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from typing import NamedTuple

from gem.registry import check_requirements, near
from gem_eval.errors import SettingsError

__all__ = ["GROUP", "InstalledTracker", "check_trackers", "tracker_called", "tracker_names"]

GROUP = "gem_eval.trackers.v1"
"""The group of entry points: a name, and a class with the methods of `Tracker`."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")  # it is part of a file's name


class InstalledTracker(NamedTuple):
    """Where a tracker is found, and what must be installed for it."""

    target: str
    requires: tuple[str, ...] = ()


_OURS: Mapping[str, InstalledTracker] = {
    "mlflow": InstalledTracker(
        "gem_eval.tracking.to_mlflow:MlflowTracker",
        ("alembic>=1.13", "mlflow-skinny>=3.1", "sqlalchemy>=2.0"),
    ),
    "wandb": InstalledTracker("gem_eval.tracking.to_wandb:WandbTracker", ("wandb>=0.21",)),
    "trackio": InstalledTracker("gem_eval.tracking.to_trackio:TrackioTracker", ("trackio>=0.43",)),
}


def check_trackers(names: Iterable[str]) -> None:
    """Raise SettingsError on one that nobody brings, MissingRequirement on a missing extra."""
    for name in names:
        found = tracker_called(name)
        check_requirements(found.requires, subject=f"--track {name}", of="gem-eval")


def tracker_names() -> list[str]:
    """Return the names of all trackers: ours, installed or not, and those of others."""
    return [*_OURS, *sorted(_of_others())]


def tracker_called(name: str) -> InstalledTracker:
    """Return a tracker by its name; ours come before those of others. Raises SettingsError."""
    if name in _OURS:
        return _OURS[name]
    others = _of_others()
    if name in others:
        return others[name]
    known = tracker_names()
    close = near(name, known)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise SettingsError(
        f"No tracker is called {name!r}.{hint} There are {', '.join(known)}.", option="track"
    )


def _of_others() -> dict[str, InstalledTracker]:
    return {
        point.name: InstalledTracker(point.value)
        for point in entry_points(group=GROUP)
        if _NAME.fullmatch(point.name)
    }
