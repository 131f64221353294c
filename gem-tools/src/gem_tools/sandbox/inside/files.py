"""Files without a name, for streams that nobody reads while they are written."""

from __future__ import annotations

import os
import time

__all__ = ["new_file"]


def new_file() -> int:
    """Open an empty file that has no name, on the session's disk, and return its descriptor."""
    name = f".{os.getpid()}-{time.monotonic_ns()}"
    descriptor = os.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(name)  # noqa: PTH108 - pathlib is not imported here
    return descriptor
