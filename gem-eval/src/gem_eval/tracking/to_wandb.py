"""Weights & Biases: online, or with `WANDB_MODE=offline` in `wandb/` of the current folder."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["WandbTracker"]

_PROJECT = "gem"


class WandbTracker:
    """A run of the project `WANDB_PROJECT`, or `gem`. Nothing of the machine or of git is sent."""

    def __init__(self) -> None:
        # Drawn once: `begin` is called again where it failed, and must not make a second run.
        self._own_id = uuid.uuid4().hex[:12]

    def begin(self, name: str, parameters: Mapping[str, str], run_id: str | None) -> str:
        """Open a run, or go on with the one of this id."""
        import wandb  # heavy: 1 s

        settings = wandb.Settings(
            console="off",
            disable_code=True,
            disable_git=True,
            disable_job_creation=True,
            host="",
            silent=True,
            x_disable_meta=True,
            x_disable_stats=True,
            x_save_requirements=False,
        )
        self._run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", _PROJECT),
            id=run_id or self._own_id,
            name=name,
            resume="allow",
            config=dict(parameters),
            allow_val_change=True,
            settings=settings,
        )
        return str(self._run.id)

    def log(self, figures: Mapping[str, float], step: int) -> None:
        """Log all figures as one point."""
        self._run.log(dict(figures), step=step)

    def end(self, *, is_finished: bool, files: Sequence[Path]) -> None:
        """Keep the files as one artifact, and wait until all is sent, or is on disk."""
        import wandb

        if files:
            artifact = wandb.Artifact(f"run-{self._run.id}", type="evaluation")
            for path in files:
                artifact.add_file(str(path))
            self._run.log_artifact(artifact)
        self._run.finish(exit_code=0 if is_finished else 1)
