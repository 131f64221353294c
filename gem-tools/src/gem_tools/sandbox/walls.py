"""The outer wall: the command of bubblewrap that starts a zygote.

The system is read-only and small: the interpreter, the named packages, `/usr`. No network, no
environment, five devices. Each call builds its own wall inside this one (see `inside.jail`).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from gem_tools.sandbox import inside
from gem_tools.sandbox.packages import installed_folders

__all__ = ["OWN_PATH", "PACKAGES_PATH", "UNUSED_USER", "find_bwrap", "interpreter", "walled"]

OWN_PATH = "/gem"
PACKAGES_PATH = "/packages"

UNUSED_USER = 65533
"""Whom root becomes: a number that no service and no package gives to anybody."""

_DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
_FROM_ETC = ("/etc/ld.so.cache", "/etc/alternatives")
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "LD_BIND_NOW": "1",  # else every fork looks for the same functions again, and copies pages
    "MALLOC_ARENA_MAX": "2",  # each arena takes address space, which is limited
    "OMP_NUM_THREADS": "1",  # a process with threads cannot be forked safely
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",  # the same program prints its sets in the same order
}


def interpreter() -> Path:
    """Return the interpreter itself, beneath any virtual environment."""
    executable: str = getattr(sys, "_base_executable", sys.executable)
    return Path(executable).resolve()


def walled(bwrap: str, packages: Mapping[str, Path], command: Sequence[str]) -> list[str]:
    """Return the command that runs another one behind the outer wall."""
    return [
        bwrap,
        *_namespaces(),
        *_system(),
        *_python(),
        *_packages(packages),
        *_folder(f"{OWN_PATH}/gem_tools/sandbox"),
        *("--ro-bind", str(Path(inside.__file__).parent), f"{OWN_PATH}/gem_tools/sandbox/inside"),
        *("--remount-ro", "/"),
        *("--chdir", "/"),
        *command,
    ]


def _namespaces() -> list[str]:
    is_root = os.geteuid() == 0
    arguments = "--unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try"
    arguments += " --die-with-parent --new-session --clearenv --hostname sandbox --cap-drop ALL"
    # Root needs no user namespace, and in one it would still be root to the kernel.
    more = "--cap-add CAP_SETUID --cap-add CAP_SETGID" if is_root else "--unshare-user"
    variables = [part for pair in _ENVIRONMENT.items() for part in ("--setenv", *pair)]
    return [*arguments.split(), *more.split(), *variables]


def _folder(path: str) -> list[str]:
    """Make a folder that everybody may enter, and those above it."""
    parents = [str(parent) for parent in reversed(Path(path).parents) if parent != Path("/")]
    return [part for folder in [*parents, path] for part in ("--perms", "0755", "--dir", folder)]


def _system() -> list[str]:
    arguments = ["--ro-bind", "/usr", "/usr"]
    for path in _LINKED:
        if Path(path).is_symlink():
            arguments += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).is_dir():
            arguments += ["--ro-bind", path, path]
    for path in ("/etc", "/dev", "/dev/shm", "/tmp"):
        arguments += _folder(path)
    for path in _FROM_ETC:
        arguments += ["--ro-bind-try", path, path]
    for name in _DEVICES:
        arguments += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    return [*arguments, "--proc", "/proc"]


def _python() -> list[str]:
    prefix = Path(sys.base_prefix).resolve()
    arguments = []
    if not prefix.is_relative_to("/usr"):
        arguments += [*_folder(str(prefix)), "--ro-bind", str(prefix), str(prefix)]
    hidden = installed_folders()
    if not prefix.is_relative_to("/usr/local") and Path("/usr/local").is_dir():
        hidden = [folder for folder in hidden if not folder.is_relative_to("/usr/local")]
        hidden.append(Path("/usr/local"))
    for folder in hidden:
        target = folder.resolve()
        if target.is_relative_to("/usr") or target.is_relative_to(prefix):
            arguments += ["--perms", "0755", "--tmpfs", str(target), "--remount-ro", str(target)]
    return arguments


def _packages(packages: Mapping[str, Path]) -> list[str]:
    arguments = _folder(PACKAGES_PATH)
    for name, path in packages.items():
        arguments += ["--ro-bind", str(path), f"{PACKAGES_PATH}/{name}"]
    return arguments


def find_bwrap() -> str | None:
    """Return bubblewrap's path, None where it is not installed."""
    return shutil.which("bwrap")
