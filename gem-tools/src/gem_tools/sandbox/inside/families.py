"""Families of processes, each one with everything below it: found in /proc, measured, signalled."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable, Sequence
from contextlib import suppress

__all__ = ["below", "held_bytes", "signal_all"]

_PAGE = resource.getpagesize()


def below(roots: Iterable[int]) -> dict[int, list[int]]:
    """Return every process below each root, itself included."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib is not imported here
        if name.isdigit():
            parent = _parent(name)
            if parent is not None:
                children.setdefault(parent, []).append(int(name))
    return {root: _family(root, children) for root in roots}


def _family(root: int, children: dict[int, list[int]]) -> list[int]:
    family = [root]
    for process in family:  # it grows meanwhile
        family += children.get(process, ())
    return family


def _parent(name: str) -> int | None:
    stat = _content(f"/proc/{name}/stat")
    return int(stat.rpartition(b")")[2].split()[1]) if stat else None


def held_bytes(family: list[int], most: int) -> int:
    """Return what the processes hold. Shared pages are counted once, where it decides.

    First each process counts with all that it holds. Only where that is more than `most` the
    shared pages are divided among those that share them, which takes the kernel longer.
    """
    quick = sum(map(_resident, family))
    return quick if quick <= most else sum(map(_fair_share, family))


def signal_all(family: Sequence[int], number: int) -> None:
    """Send a signal to each of these processes that is still there and may be signalled."""
    for process in family:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _resident(process: int) -> int:
    statm = _content(f"/proc/{process}/statm")
    return int(statm.split()[1]) * _PAGE if statm else 0


def _fair_share(process: int) -> int:
    for line in _content(f"/proc/{process}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(process)  # it hides, or is gone


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            return file.read()
    except OSError:  # the process ended meanwhile
        return b""
