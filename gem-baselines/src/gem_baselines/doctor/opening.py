"""Open the folder of a run, whichever program wrote it. Knows nothing about what is wrong."""

from __future__ import annotations

import os
from pathlib import Path

from gem_baselines.doctor.reading import read_training
from gem_baselines.doctor.run import Run
from gem_baselines.doctor.trl import is_trl_folder, read_trl
from gem_baselines.errors import FolderError
from gem_baselines.training.folder import is_training_folder

__all__ = ["open_run"]


def open_run(path: str | os.PathLike[str]) -> Run:
    """Read a training folder, or what TRL left. Raises FolderError on any other folder."""
    folder = Path(path)
    if is_training_folder(folder):
        return read_training(folder)
    if (folder / "run.json").is_file():
        raise FolderError(
            f"The doctor was asked to look at {folder}, and that is an evaluation: nothing was "
            f"trained there. `gem-env find {folder}` says what is odd in its episodes.",
            path=folder,
        )
    if is_trl_folder(folder):
        return read_trl(folder)
    raise FolderError(
        f"The doctor was asked to look at {folder}, and there is no training in it. Give a folder "
        "that `gem-env train` wrote, or the output_dir of a TRL trainer, with its checkpoints.",
        path=folder,
    )
