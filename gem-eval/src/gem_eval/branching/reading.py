"""Read where the children of a run begin, from its folder alone: the parent's may be gone."""

from __future__ import annotations

from gem.episode import Episode
from gem.errors import in_one_line
from gem_eval.branching.origin import Origin
from gem_eval.errors import RunFolderError
from gem_eval.run_folder import RunFolder

__all__ = ["origin_in"]


def origin_in(folder: RunFolder) -> Origin | None:
    """Return where the children of a run begin, None of a run that is no branch.

    Raises RunFolderError where the parent in the folder is not the one that its record names.
    """
    branch = folder.record.branch
    if branch is None:
        return None
    try:
        parent = Episode.from_json(folder.parent_path.read_bytes())
        if parent.fingerprint() == branch.fingerprint:
            return Origin(parent, branch)
        what = "is of another episode"
    except (OSError, ValueError) as error:
        what = f"cannot be read ({in_one_line(error, at_most=200)})"
    raise RunFolderError(
        f"{folder.path} cannot go on: it branches from an episode, and its "
        f"{folder.parent_path.name} {what}. Put that back, or branch again from line "
        f"{branch.line} of {branch.run}.",
        path=str(folder.path),
    )
