"""Control groups, version 2: the kernel's own bound on what several processes hold together.

They are used where this process may make some that know of memory: as root, or below a group that
was delegated to this user (`systemd-run --user --scope`). Elsewhere memory is sampled.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path

__all__ = ["MemoryGroup", "MemoryGroups", "NoGroups", "memory_groups"]

_ROOT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
_PREFIX = "gem-sandbox-"
_TRIAL_BYTES = 64 << 20
_TRIAL = f"import sys; sys.stdin.read(1); held = b'x' * {4 * _TRIAL_BYTES}"
_KERNEL_BYTES = 32 << 20
"""A group counts what the kernel holds for it too, such as its tables of pages."""


class NoGroups(Exception):
    """No control group holds memory here; the text says why, in a few words."""


@cache
def memory_groups() -> MemoryGroups | NoGroups:
    """Return those of this process, tried once, or why there are none."""
    try:
        groups = MemoryGroups()
    except NoGroups as error:
        return error
    weakref.finalize(groups, _remove_as, os.getpid(), groups.path)
    return groups


class MemoryGroup:
    """The processes of one jail, and what they may hold."""

    def __init__(self, path: Path, left: list[Path]) -> None:
        self._path = path
        self._left = left

    def add(self, process: int) -> None:
        """Move a process here; what it starts from now on is here too. Takes milliseconds."""
        (self._path / "cgroup.procs").write_text(str(process))

    def limit(self, most_bytes: int) -> None:
        """End all processes at once when they hold more, their files in memory included."""
        (self._path / "memory.max").write_text(str(most_bytes + _KERNEL_BYTES))

    def was_over(self) -> bool:
        """Say whether the kernel ended them for that."""
        with suppress(OSError):
            for line in (self._path / "memory.events").read_text().splitlines():
                name, _, count = line.partition(" ")
                if name == "oom_kill" and int(count) > 0:
                    return True
        return False

    def remove(self) -> None:
        """Remove the group, or leave that to the next one: its processes may still be ending."""
        try:
            self._path.rmdir()
        except OSError:
            self._left.append(self._path)


class MemoryGroups:
    """The groups of this process's sandboxes. Raises NoGroups where none can be made or none holds.

    `root` is where the groups of this machine are, `own` the file that names this process's own.
    """

    def __init__(self, root: Path = _ROOT, own: Path = _OWN) -> None:
        self.path = _new_group(_ancestor(root, own))
        self._numbers = itertools.count()
        self._left: list[Path] = []
        try:
            (self.path / "cgroup.subtree_control").write_text("+memory")
            _try(self.make())
        except (OSError, NoGroups, subprocess.SubprocessError) as error:
            _remove(self.path)
            raise NoGroups(f"control groups hold no memory here: {error}") from error

    def make(self) -> MemoryGroup:
        """Make a group. Raises OSError."""
        with suppress(IndexError):  # another thread may take the last one
            for _ in range(len(self._left)):
                MemoryGroup(self._left.pop(0), self._left).remove()
        path = self.path / f"jail-{os.getpid()}-{next(self._numbers)}"  # a fork makes some, too
        path.mkdir()
        (path / "memory.oom.group").write_text("1")
        with suppress(OSError):  # a kernel without swap has no such file
            (path / "memory.swap.max").write_text("0")
        return MemoryGroup(path, self._left)

    def hold(self, watched: int) -> MemoryGroup | None:
        """Move a jail into a group of its own; closes `watched`, its first process's descriptor.

        None where that fails: its memory is then sampled alone.
        """
        try:
            group = self.make()
            for process in _family(watched):
                group.add(process)
            return group
        except (OSError, ValueError):
            return None
        finally:
            os.close(watched)


def _family(watched: int) -> list[int]:
    """Return the processes of a jail whose program has not begun, the first one first."""
    info = Path(f"/proc/self/fdinfo/{watched}").read_text()
    [first] = [int(line.split()[1]) for line in info.splitlines() if line.startswith("Pid:")]
    children = Path(f"/proc/{first}/task/{first}/children").read_text()
    return [first, *map(int, children.split())]


def _ancestor(root: Path, own: Path) -> Path:
    """Return the nearest group around this process below which others may be made."""
    if not (root / "cgroup.controllers").is_file():
        raise NoGroups("there are no control groups of version 2")
    names = [line[3:] for line in own.read_text().splitlines() if line.startswith("0::")]
    here = root / names[0].strip("/") if names else root
    for path in (here, *here.parents):
        if _may_hold(path):
            return path
        if path == root:
            break
    raise NoGroups("no control group that knows of memory may be made by this user")


def _may_hold(path: Path) -> bool:
    try:
        known = (path / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False
    return (
        "memory" in known and os.access(path, os.W_OK) and os.access(path / "cgroup.procs", os.W_OK)
    )


def _new_group(parent: Path) -> Path:
    for path in parent.glob(f"{_PREFIX}*"):
        process = path.name.removeprefix(_PREFIX).partition("-")[0]
        if not Path("/proc", process).exists():  # it was killed before it could
            _remove(path)
    for number in itertools.count():
        path = parent / f"{_PREFIX}{os.getpid()}-{number}"
        with suppress(FileExistsError):
            path.mkdir()
            return path
    raise AssertionError


def _remove_as(process: int, path: Path) -> None:
    if os.getpid() == process:  # its forks end sooner
        _remove(path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        for child in [*path.glob("jail-*"), path]:
            child.rmdir()


def _try(group: MemoryGroup) -> None:
    """See that the kernel ends a process that holds too much."""
    group.limit(_TRIAL_BYTES)
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _TRIAL], stdin=subprocess.PIPE
    ) as trial:
        try:
            group.add(trial.pid)
            trial.communicate(b"1", timeout=10)
        finally:
            trial.kill()
    is_over = group.was_over()
    group.remove()
    if not is_over:
        raise NoGroups("a process held more than its group may")
