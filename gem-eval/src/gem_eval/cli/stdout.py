"""Keep stdout for JSON alone: what environments and policies print there goes to stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import IO

__all__ = ["json_alone"]


@contextmanager
def json_alone(as_json: bool) -> Iterator[IO[str]]:
    """Give stdout. With `as_json` all that is printed elsewhere meanwhile goes to stderr.

    An environment may print when its module is imported, when it is made and reset, and in every
    step. So this is around all that a command does, from the check of its options on.
    """
    out = sys.stdout
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        yield out
