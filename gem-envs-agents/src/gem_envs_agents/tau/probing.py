"""Say what an environment of the published tasks lacks. Imports nothing: `gem-env list` asks it."""

from __future__ import annotations

__all__ = ["published_files"]


def published_files(data: str | None = None, **_: object) -> tuple[str, str] | None:
    """Return that the published files are to be named, or None where they are."""
    if data is None:
        return "its published files", "data=FOLDER; `gem-env show ID` says where they are published"
    return None
