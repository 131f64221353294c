"""trackio: on this machine, or where `TRACKIO_SPACE_ID` or `TRACKIO_SERVER_URL` says."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["TrackioTracker"]

_PROJECT = "gem"


class TrackioTracker:
    """A run of the project `gem`. trackio finds a run by its name, so that this is the id."""

    def __init__(self) -> None:
        # Drawn once: `begin` is called again where it failed, and must not make a second run.
        self._own_end = uuid.uuid4().hex[:8]

    def begin(self, name: str, parameters: Mapping[str, str], run_id: str | None) -> str:
        """Open a run, or go on with the one of this id."""
        import trackio  # heavy: 0.6 s

        self._run = trackio.init(
            _PROJECT,
            name=run_id or f"{name}-{self._own_end}",
            config=dict(parameters),
            resume="allow",
            embed=False,
            auto_log_cpu=False,
            auto_log_gpu=False,
        )
        return str(self._run.name)

    def log(self, figures: Mapping[str, float], step: int) -> None:
        """Log all figures as one point."""
        self._run.log(dict(figures), step=step)

    def end(self, *, is_finished: bool, files: Sequence[Path]) -> None:
        """Keep the files as artifacts, and wait until all is written."""
        import trackio

        for path in files:
            trackio.log_artifact(path, name=f"{self._run.name}-{path.stem}", type="evaluation")
        trackio.finish()
