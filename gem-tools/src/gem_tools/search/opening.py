"""Open whatever can be searched: an index in a folder, or a server."""

from __future__ import annotations

import os
import re
from pathlib import Path

from gem_tools.search.engines import LocalIndex, local_index

__all__ = ["is_address", "open_index"]

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


def is_address(where: str | os.PathLike[str]) -> bool:
    """Say whether `where` is the address of a server rather than a folder."""
    return isinstance(where, str) and _ADDRESS.match(where) is not None


def open_index(folder: str | os.PathLike[str]) -> LocalIndex:
    """Open an index that `gem-env build-search` built, in a millisecond where it is tantivy's.

    Its files are memory-mapped, so that many processes share one copy. Raises SearchIndexError
    where it is absent, half built, damaged or of another version, and MissingRequirement where
    its engine is not installed.
    """
    return local_index(Path(folder))
