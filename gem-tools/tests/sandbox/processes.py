"""Which processes there are, and programs that are told from all others by their name."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """A process as the kernel tells of it. `state` is Z where it has ended."""

    number: int
    name: str
    state: str
    parent: int


def processes() -> Iterator[Process]:
    """Yield the processes of this machine, but for those that end meanwhile."""
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with suppress(OSError):
                number, _, rest = (path / "stat").read_text().partition(" (")
                name, _, facts = rest.rpartition(") ")
                state, parent, *_ = facts.split()
                yield Process(int(number), name, state, int(parent))


def new_mark() -> str:
    """Return a name for a process that no other run of these tests has."""
    return f"gem-{secrets.token_hex(5)}"


def named(mark: str) -> str:
    """Return an expression that names the process which evaluates it."""
    return f"__import__('ctypes').CDLL(None).prctl(15, {mark.encode()!r})"


def is_running(name: str) -> bool:
    """Say whether any process of this machine has this name."""
    return any(process.name == name for process in processes())
