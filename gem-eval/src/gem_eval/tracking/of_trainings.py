"""Trackers of trainings: what `gem-env train --track` finds by its group of entry points.

Knows nothing about who trains, but the folder that this writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from gem_eval.tracking.installed import check_trackers, tracker_names
from gem_eval.tracking.listening import Listener, end_all

__all__ = ["TrainingTracker", "reporters"]


class TrainingTracker:
    """One tracker of one training, told by a process of its own. Raises MissingRequirement."""

    def __init__(self, name: str) -> None:
        check_trackers([name])
        self._name = name
        self._listener: Listener | None = None

    @property
    def problem(self) -> str:
        """Say in a line what the tracker lacks; empty where nothing failed."""
        return "" if self._listener is None else self._listener.problem

    def start(self, folder: Path) -> None:
        """Begin to follow a training folder, from its first line on."""
        self._listener = Listener(
            self._name, folder, kind="training", asking=[], resume="gem-env train --resume"
        )

    def end(self, *, is_finished: bool) -> None:
        """Tell the tracker that the training is over, and wait for it, for a little while."""
        if self._listener is None:
            return
        try:
            end_all([self._listener], is_finished=is_finished)
        except KeyboardInterrupt:
            self._listener.give_up("the training was interrupted")
            raise


def reporters() -> Mapping[str, Callable[[], TrainingTracker]]:
    """Return what makes each tracker that is installed or could be, by its name."""
    return {name: partial(TrainingTracker, name) for name in tracker_names()}
