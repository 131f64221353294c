"""The system calls that Python does not offer. Raises OSError as `os` does."""

from __future__ import annotations

import ctypes
import os
import platform

__all__ = [
    "NEW_IPC",
    "NEW_MOUNTS",
    "NEW_NETWORK",
    "NEW_NUMBERS",
    "NEW_USERS",
    "NEW_UTS",
    "allow_dumps",
    "clone",
    "die_with_parent",
    "drop_capabilities",
    "gain_no_privileges",
    "hide_memory",
    "is_known",
    "libc",
    "mount",
]

NEW_MOUNTS = 0x00020000
NEW_UTS = 0x04000000
NEW_IPC = 0x08000000
NEW_USERS = 0x10000000
NEW_NUMBERS = 0x20000000
NEW_NETWORK = 0x40000000

_SIGCHLD = 17
_CLONE = {"x86_64": 56, "aarch64": 220}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECUREBITS = 28
_PR_SET_NO_NEW_PRIVS = 38
_NO_RIGHTS_OF_ROOT = 0xEF
"""No capability for user 0, by a change of user, or ambient; and all of this locked."""
_CAP_VERSION_3 = 0x20080522
_CapHeader = ctypes.c_uint32 * 2  # made here, once: each jail would make these types anew
_CapSets = ctypes.c_uint32 * 6

libc = ctypes.PyDLL(None, use_errno=True)  # holds the interpreter's lock, so a child has it too
libc.syscall.restype = ctypes.c_long


def is_known() -> bool:
    """Say whether this machine's numbers of system calls are known here."""
    return platform.machine() in _CLONE


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def clone(flags: int) -> int:
    """Fork into new namespaces: 0 in the child, which may do little but fork with `os.fork`."""
    number = _CLONE[platform.machine()]
    arguments = [ctypes.c_long(value) for value in (number, flags | _SIGCHLD, 0, 0, 0, 0)]
    return _checked(int(libc.syscall(*arguments)), "clone")


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount a file system, as the system call does."""
    result = libc.mount(
        source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()
    )
    _checked(result, f"mount {kind or source} on {target}")


def _prctl(option: int, *arguments: int) -> int:
    padded = [*arguments, 0, 0, 0, 0][:4]
    return int(libc.prctl(option, *(ctypes.c_ulong(value) for value in padded)))


def gain_no_privileges() -> None:
    """Let no program that is executed from here on have more rights than this one."""
    _checked(_prctl(_PR_SET_NO_NEW_PRIVS, 1), "prctl no_new_privs")


def die_with_parent(signal: int) -> None:
    """Get this signal when the parent ends."""
    _checked(_prctl(_PR_SET_PDEATHSIG, signal), "prctl pdeathsig")


def allow_dumps() -> None:
    """Own this process's files in /proc again, which a change of user takes away."""
    _checked(_prctl(_PR_SET_DUMPABLE, 1), "prctl dumpable")


def hide_memory() -> None:
    """Keep processes of the same user from reading or tracing this one."""
    _checked(_prctl(_PR_SET_DUMPABLE, 0), "prctl dumpable")


def drop_capabilities() -> None:
    """Give up every capability of this namespace, for good.

    The bounding set stays: with no new privileges and these bits, no program can draw on it.
    """
    _checked(_prctl(_PR_SET_SECUREBITS, _NO_RIGHTS_OF_ROOT), "prctl securebits")
    header = _CapHeader(_CAP_VERSION_3, 0)
    none = _CapSets()
    number = ctypes.c_long(_CAPSET[platform.machine()])
    _checked(int(libc.syscall(number, header, none)), "capset")
