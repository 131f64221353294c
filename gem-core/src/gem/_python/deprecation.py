"""Warn of a name of an earlier release, at the line of whoever used it.

Knows nothing about which names these are.
"""

from __future__ import annotations

import sys
import warnings
from types import FrameType

__all__ = ["warn_deprecated"]


def warn_deprecated(usage: str, *, instead: str) -> None:
    """Give a DeprecationWarning: a sentence on what was used, and one on what to use.

    It points at the nearest caller outside this package: Python shows a DeprecationWarning only
    where it points at `__main__`, so one that pointed at our own lines would never be seen.
    """
    caller = _caller()
    names = caller.f_globals
    warnings.warn_explicit(
        f"{usage} {instead}",
        DeprecationWarning,
        filename=caller.f_code.co_filename,
        lineno=caller.f_lineno,
        module=names.get("__name__", "<unknown>"),  # for None Python says nothing at all
        # Where Python keeps what was warned of already: once for each line, as for its own.
        registry=names.setdefault("__warningregistry__", {}),
    )


def _caller() -> FrameType:
    frame = sys._getframe(1)
    while _is_of_this_package(frame.f_globals.get("__name__", "")) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _is_of_this_package(module: str) -> bool:
    return module == "gem" or module.startswith("gem.")
