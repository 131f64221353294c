"""The policy `baseline:PATH`: what a training left behind, to be evaluated like any other.

Knows nothing about how it was trained.
"""

from __future__ import annotations

from pathlib import Path

from gem_baselines.errors import FolderError
from gem_baselines.learning_policy import LearningPolicy
from gem_baselines.training.checkpoints import Checkpoint, is_checkpoint
from gem_baselines.training.folder import BEST, CHECKPOINTS, LAST, is_training_folder

__all__ = ["load"]


def load(path: str, greedy: bool = False, trust_kind: bool = False) -> LearningPolicy:
    """Return the policy of a checkpoint, or the best one of a training folder.

    A training without evaluations has no best one, and its last is taken. With `greedy` it takes
    its most probable action in place of a drawn one. A checkpoint of a policy that is none of ours
    names code that would run here: it is refused without `trust_kind`. Raises FolderError.
    """
    policy = Checkpoint.read(_checkpoint_of(Path(path))).policy(trust_kind=trust_kind)
    policy.is_greedy = greedy
    return policy


def _checkpoint_of(path: Path) -> Path:
    if is_checkpoint(path):
        return path
    for name in (BEST, LAST):
        checkpoint = path / CHECKPOINTS / name
        if is_checkpoint(checkpoint):
            return checkpoint
    if path.is_symlink() and not path.exists():
        raise FolderError(
            f"The policy baseline:{path} was asked for, and that is a link to {path.readlink()}, "
            "which is not there. Copy what a link stands for, as `cp -rL` does.",
            path=path,
        )
    unlinked = [entry for entry in sorted((path / CHECKPOINTS).glob("*")) if is_checkpoint(entry)]
    if unlinked:
        raise FolderError(
            f"The policy baseline:{path} was asked for, and neither {BEST} nor {LAST} of its "
            f"{CHECKPOINTS} is there, as where a copy left links out. Name the checkpoint itself: "
            f"baseline:{unlinked[-1]}.",
            path=path,
        )
    if is_training_folder(path):
        raise FolderError(
            f"The policy baseline:{path} was asked for, and that training has no checkpoint yet. "
            f"Go on with it: `gem-env train --resume {path}`.",
            path=path,
        )
    raise FolderError(
        f"The policy baseline:{path} was asked for, and {path} is neither a checkpoint nor a "
        "training folder. Give the folder that `gem-env train` wrote, or one of its checkpoints.",
        path=path,
    )
