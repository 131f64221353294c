"""The processes below one: what a zygote does with them where it samples their memory."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
from contextlib import closing

import pytest

from gem_tools.sandbox.inside import families, jail
from gem_tools.sandbox.inside.zygote import _Zygote

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")

_STARTS_ANOTHER = """
import subprocess, sys
another = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"])
print(another.pid, flush=True)
another.wait()
"""


def test_a_jail_that_holds_too_much_is_killed_with_all_its_processes_at_once() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _STARTS_ANOTHER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with process, closing(ours), closing(theirs):
        assert process.stdin is not None
        assert process.stdout is not None
        another = int(process.stdout.readline())
        end_of_another = os.pidfd_open(another)
        try:
            assert families.below([process.pid])[process.pid] == [process.pid, another]
            zygote = _Zygote(theirs, jail.Limits(processes=2, files=9, disk_bytes=0, disk_files=0))
            zygote._watched[process.pid] = 0

            zygote._sample()

            # No namespace ends the second process here: only a signal of its own does.
            assert _has_ended(end_of_another)
            assert json.loads(ours.recv(1000)) == {"what": "over", "process": process.pid}
        finally:
            os.close(end_of_another)
            process.stdin.close()  # it ends both, where the test has failed


def _has_ended(descriptor: int) -> bool:
    """Wait for a process's end, for a minute at most."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(60_000))
