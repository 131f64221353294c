"""How much memory a process and everything below it hold together, as /proc tells."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable

__all__ = ["families", "held_bytes"]

_PAGE = resource.getpagesize()


def families(roots: Iterable[int]) -> dict[int, list[int]]:
    """Return every process below each root, itself included."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib is not imported here
        if name.isdigit():
            parent = _parent(name)
            if parent is not None:
                children.setdefault(parent, []).append(int(name))
    return {root: _below(root, children) for root in roots}


def _below(root: int, children: dict[int, list[int]]) -> list[int]:
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
