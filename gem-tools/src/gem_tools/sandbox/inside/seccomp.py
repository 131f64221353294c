"""The filter of system calls: a program of the kernel's small virtual machine, made by hand.

What it refuses is the surface of the kernel that a computation does not need. A call newer than
this list does not exist (ENOSYS), and neither does clone3, whose flags no filter can read, so
that the C library falls back to clone.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Iterable
from functools import cache

from gem_tools.sandbox.inside.kernel import libc

__all__ = ["ARCHITECTURES", "filter_program", "install"]

_LOAD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_GREATER = 0x25
_JUMP_SET = 0x45
_RETURN = 0x06
_NUMBER = 0
_ARCHITECTURE = 4
_ARGUMENTS = 16
_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERRNO = 0x00050000

_NAMESPACES = 0x7E020080
"""Every CLONE_NEW flag; a program that has one could gain capabilities in it."""

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name: (x86_64, aarch64), None where the machine has no such call
_REFUSED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, None),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "vhangup": (153, 58),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    "_sysctl": (156, None),
    "personality": (135, 92),
}

_CALLS = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "ioctl": (16, 29),
    "prlimit64": (302, 261),
    "kill": (62, 129),
}

_NEWEST = 462  # mseal; what came after it is unknown here
_AF_UNIX = 1
_ALL_PROCESSES = 0xFFFFFFFF  # -1
_TIOCSTI = 0x5412
_TIOCLINUX = 0x541C


@cache
def filter_program(machine: str, *, may_signal_all: bool = True) -> bytes:
    """Return the filter for a machine, as the kernel takes it. KeyError on an unknown machine.

    Unless a program `may_signal_all` processes at once, it can do so to those it can name alone.
    """
    column = list(ARCHITECTURES).index(machine)
    number = {name: numbers[column] for name, numbers in _CALLS.items()}
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, ARCHITECTURES[machine], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_JUMP_GREATER, _NEWEST, 0, 1),  # x86_64's 32-bit twins are here too
        _step(_RETURN, _ERRNO | errno.ENOSYS),
        *_if_number(number["clone3"], [_step(_RETURN, _ERRNO | errno.ENOSYS)]),
        *_if_number(number["clone"], _refuse_flags(0, _NAMESPACES)),
        *_if_number(number["socket"], _refuse_other_than(0, [_AF_UNIX], errno.EACCES)),
        *_if_number(number["socketpair"], _refuse_other_than(0, [_AF_UNIX], errno.EACCES)),
        *_if_number(number["prlimit64"], _refuse_other_than(0, [0], errno.EPERM)),
        *_if_number(number["ioctl"], _refuse_these(1, [_TIOCSTI, _TIOCLINUX])),
    ]
    if not may_signal_all:
        steps += _if_number(number["kill"], _refuse_these(0, [_ALL_PROCESSES]))
    refused = [row[column] for row in _REFUSED.values() if row[column] is not None]
    steps += _refuse_numbers(refused)
    return b"".join(steps)


def _refuse_numbers(refused: Iterable[int | None]) -> list[bytes]:
    """Refuse these, allow all others. One jump for each: the kernel tries every number there is."""
    numbers = list(refused)
    jumps = [
        _step(_JUMP_EQUAL, number, len(numbers) - place, 0)
        for place, number in enumerate(numbers)
        if number is not None
    ]
    return [*jumps, _step(_RETURN, _ALLOW), _step(_RETURN, _ERRNO | errno.EPERM)]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _if_number(number: int | None, then: list[bytes]) -> list[bytes]:
    assert number is not None
    return [_step(_JUMP_EQUAL, number, 0, len(then)), *then]


def _refuse_flags(argument: int, flags: int) -> list[bytes]:
    return [
        _step(_LOAD, _ARGUMENTS + 8 * argument),
        _step(_JUMP_SET, flags, 0, 1),
        _step(_RETURN, _ERRNO | errno.EPERM),
        _step(_RETURN, _ALLOW),
    ]


def _refuse_other_than(argument: int, values: Iterable[int], error: int) -> list[bytes]:
    steps = [_step(_LOAD, _ARGUMENTS + 8 * argument)]
    for value in values:
        steps += [_step(_JUMP_EQUAL, value, 0, 1), _step(_RETURN, _ALLOW)]
    return [*steps, _step(_RETURN, _ERRNO | error)]


def _refuse_these(argument: int, values: Iterable[int]) -> list[bytes]:
    steps = [_step(_LOAD, _ARGUMENTS + 8 * argument)]
    for value in values:
        steps += [_step(_JUMP_EQUAL, value, 0, 1), _step(_RETURN, _ERRNO | errno.EPERM)]
    return [*steps, _step(_RETURN, _ALLOW)]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def install(*, may_signal_all: bool = True) -> None:
    """Filter the calls of this process and of all that it starts, for good.

    Raises OSError. It needs `gain_no_privileges` first.
    """
    steps = filter_program(platform.machine(), may_signal_all=may_signal_all)
    program = _Program(len(steps) // 8, steps)
    set_seccomp = 22
    filter_mode = 2
    if libc.prctl(set_seccomp, ctypes.c_ulong(filter_mode), ctypes.byref(program), 0, 0) < 0:
        number = ctypes.get_errno()
        raise OSError(number, "the filter of system calls was refused")
