"""Write what a learner has learnt into a file, and take it on from there. Needs torch."""

from __future__ import annotations

import pickle
from pathlib import Path

import torch

from gem.errors import BadArguments, in_one_line
from gem_baselines.learning._learner import Learner

__all__ = ["restore_state", "save_state"]

_FILE = "state.pt"
_FORMAT = 1


def save_state(learner: Learner, folder: Path) -> None:
    """Write weights and the optimizer's state into `state.pt` of a folder. Raises OSError."""
    # Into a file that is open: by a path torch opens its own, and what is wrong with the disk is
    # in none of its errors.
    with (folder / _FILE).open("wb") as file:
        try:
            torch.save({"format": _FORMAT, **learner.state()}, file)
        except RuntimeError as error:
            # What torch raises while it deals with the error of `file`, as where a disk is full.
            cause = error.__context__
            if not isinstance(cause, OSError):
                raise
            raise OSError(cause.errno, cause.strerror) from error


def restore_state(learner: Learner, folder: Path) -> None:
    """Take on what `save_state` wrote. Raises BadArguments where that is of another policy."""
    path = folder / _FILE
    try:
        # Tensors and plain data alone: nothing in the file is run.
        state = torch.load(path, map_location=learner.model.device, weights_only=True)
        if state["format"] != _FORMAT:
            raise ValueError(f"its format is {state['format']}, and {_FORMAT} is known")
        learner.take_on(state)
    except (
        OSError,
        EOFError,
        RuntimeError,
        ValueError,
        LookupError,
        TypeError,  # it is a file of torch, and holds something else
        AttributeError,
        pickle.UnpicklingError,
    ) as error:
        raise BadArguments(
            f"{path} was to be restored, and holds no state of this policy: "
            f"{in_one_line(error, at_most=200)}. Give a folder that `save` of a policy with "
            "the same tokenizer, shape and learning wrote.",
            subject="folder",
        ) from error
