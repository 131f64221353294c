"""The root of a tree of processes: the process that started the others, asked from any of them.

The root is named in an environment variable, which every process that is started later inherits.
Knows nothing about what the processes of a tree share.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

__all__ = ["VARIABLE", "Root", "join", "root"]

VARIABLE = "GEM_PROCESS_TREE"

_WRITTEN = re.compile(r"([1-9][0-9]{0,9})-([0-9]{1,20})", re.ASCII)


class Root(NamedTuple):
    """A process: its number, and when it began, in ticks of the machine's clock.

    By the latter it differs from a later process of that number. As a string it is what the
    environment variable holds.
    """

    process: int
    began: str

    @property
    def is_running(self) -> bool:
        """Whether it runs on this machine, as this user."""
        return _began(self.process) == self.began

    def __str__(self) -> str:
        return f"{self.process}-{self.began}"


def root() -> Root:
    """Return the root of this process's tree: what the environment names, where that still runs.

    Else it is this process, which then names itself in its environment: whatever it starts from
    now on, in whichever way, belongs to it. Call it before starting what shall belong.
    """
    named = _running_root(os.environ.get(VARIABLE, ""))
    if named is None:
        process = os.getpid()
        named = Root(process, _began(process) or "0")
        os.environ[VARIABLE] = str(named)
    return named


def join(written: str) -> Root:
    """Take this process into the tree whose root, as a string, is given, and return its root.

    For processes that another program started. A root of another machine, or one that has ended,
    changes nothing.
    """
    if _running_root(written) is not None:
        os.environ[VARIABLE] = written
    return root()


def _running_root(written: str) -> Root | None:
    """Return the root that a text names, None where it names none that runs."""
    match = _WRITTEN.fullmatch(written)
    if match is None:
        return None
    named = Root(int(match[1]), match[2])
    # The variable outlives the process that it names: one that runs no longer is no root.
    return named if named.is_running else None


def _began(process: int) -> str | None:
    """Return when a process of this user's began; None where there is none that runs."""
    if sys.platform != "linux":  # pragma: no cover - only Linux tells when
        return "0" if _answers(process) else None
    folder = Path(f"/proc/{process}")
    try:
        is_ours = folder.stat().st_uid == os.geteuid()
        # After the last parenthesis: the program's name is in a pair, and may hold some itself.
        fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    state = fields[0]
    start_ticks = fields[19]
    # A zombie (Z) or a dead one (X) has a number still, and runs no more.
    return start_ticks if is_ours and state not in "ZX" else None


def _answers(process: int) -> bool:  # pragma: no cover - not on Linux
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True
