"""What a tracker is: the little that a run tells it. Knows nothing about how figures are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

__all__ = ["Tracker"]


class Tracker(Protocol):
    """A tracker of experiments, made without arguments in a process of its own.

    Any method may raise: the run is told so, and goes on. `begin` is called until it has returned
    once, `log` with other figures later on.
    """

    def begin(self, name: str, parameters: Mapping[str, str], run_id: str | None) -> str:
        """Open a run, or go on with the one of this id, and return the id."""

    def log(self, figures: Mapping[str, float], step: int) -> None:
        """Take figures. Each step is larger than that before, also where a run is resumed.

        One exception: the last step of a run comes once more where a kill ended the process while
        it took that.
        """

    def end(self, *, is_finished: bool, files: Sequence[Path]) -> None:
        """Send off what is left, and let go of the run; `files` are to be kept with it."""
