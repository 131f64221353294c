"""What grading programs needs that is no Python package: the jail's own program."""

from __future__ import annotations

import shutil

__all__ = ["lacks"]


def lacks(**_: object) -> tuple[str, str] | None:
    """Return that bubblewrap is not installed, or None where it is."""
    if shutil.which("bwrap") is None:
        return "bubblewrap", "install bubblewrap, on Linux; then `gem-env sandbox`"
    return None
