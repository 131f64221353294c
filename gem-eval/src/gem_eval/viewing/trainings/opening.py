"""Find the runs and the trainings that a command names, and open the trainings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from gem_eval.errors import RunFolderError, ViewError
from gem_eval.run_folder import RunFolder
from gem_eval.training_folder import TrainingFiles, is_training_folder
from gem_eval.viewing.runs import name_of
from gem_eval.viewing.trainings.training import ViewedTraining

__all__ = ["found_in", "left_out", "open_trainings"]

_DEEPEST = 3  # folders inside one another: FOLDER/ARM/SEED
_MOST = 500


def found_in(paths: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """Return the folders of runs and those of trainings that paths name, or that are below one.

    A path that is neither, and has neither below it, counts as a run: to open it says what is
    wrong. Raises ViewError where there are more than 500.
    """
    runs: dict[Path, None] = {}
    trainings: dict[Path, None] = {}
    for path in dict.fromkeys(map(Path, paths)):
        found = [*_below(path, _DEEPEST)] or [path]
        for folder in found:
            kind = trainings if is_training_folder(folder) else runs
            kind[folder] = None
        if len(runs) + len(trainings) > _MOST:
            raise ViewError(
                f"{path} was to be shown, and with it there are more than {_MOST} runs and "
                "trainings. Name folders with fewer of them."
            )
    return [*runs], [*trainings]


def left_out(found: Sequence[Path], named: Collection[Path]) -> dict[Path, RunFolderError]:
    """Return which of the folders cannot be opened, and why.

    Who names a folder of many sees the others: one damaged record hides none of them. Raises
    RunFolderError for a folder that is itself among the named ones, and where none could be opened.
    """
    problems: dict[Path, RunFolderError] = {}
    for path in found:
        try:
            if is_training_folder(path):
                TrainingFiles.open(path)
            else:
                RunFolder.open(path)
        except RunFolderError as error:
            if path in named:
                raise
            problems[path] = error
    if problems and len(problems) == len(found):
        raise problems[found[0]]
    return problems


def open_trainings(paths: Sequence[Path], taken: Sequence[str] = ()) -> list[ViewedTraining]:
    """Open training folders for a viewer, by names that no run has. Raises RunFolderError."""
    trainings = []
    names = [*taken]
    for path in paths:
        folder = TrainingFiles.open(path)
        name = name_of(path, names)
        names.append(name)
        trainings.append(ViewedTraining(name, folder))
    return trainings


def _below(folder: Path, levels: int) -> Iterator[Path]:
    """Yield a folder that is a run or a training, or those below it."""
    if is_training_folder(folder) or (folder / "run.json").is_file():
        yield folder
        return
    if not levels or not folder.is_dir():
        return
    try:
        inner = sorted(entry for entry in folder.iterdir() if entry.is_dir())
    except OSError:  # of somebody else
        return
    for entry in inner:
        if not entry.is_symlink() and not entry.name.startswith("."):
            yield from _below(entry, levels - 1)
