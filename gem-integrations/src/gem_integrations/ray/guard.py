"""The process that owns a Ray of this machine alone, and ends it when its parent ends.

However that comes: at an exit, or by a kill that no handler sees. Nothing of that Ray is left
then, neither a process nor a file. Imports Ray only when it runs.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gem.errors import in_one_line

__all__ = ["COMMAND", "alone_in_starting", "guard"]

COMMAND = "import sys; sys.path[:] = {!r}; from gem_integrations.ray.guard import guard; guard()"

_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_REAP_S = 1.0
_STORE_BYTES = 256 * 1024 * 1024
_TRIES = 2
_START_S = 60.0  # a Ray starts in 3 s; where the machine is busy, in 20 s


def guard() -> None:
    """Start a Ray with so many processors (argv), write where it is, and wait for the end of stdin.

    The line is JSON: an "address", or an "error".
    """
    _adopt_orphans()
    # Its sockets lie here, and the system allows them 107 characters: TMPDIR may be too long.
    folder = tempfile.mkdtemp(prefix="gem-ray-", dir=os.environ.get("RAY_TMPDIR", "/tmp"))
    try:
        sys.stdout.write(json.dumps(_started(folder, int(sys.argv[1]))) + "\n")
        sys.stdout.flush()
        rays = set(_children())
        while not select.select([sys.stdin], [], [], _REAP_S)[0]:
            for orphan in set(_children()) - rays:
                with suppress(ChildProcessError):
                    os.waitpid(orphan, os.WNOHANG)
    finally:
        _end()
        shutil.rmtree(folder, ignore_errors=True)


def _started(folder: str, num_cpus: int) -> dict[str, str]:
    """Start a Ray. One that fails is ended, and another is tried: Ray gives its node 30 s alone."""
    import ray  # heavy: 0.2 s

    error = ""
    for _ in range(_TRIES):
        try:
            with alone_in_starting():
                ray.init(
                    "local",
                    num_cpus=num_cpus,
                    include_dashboard=False,
                    object_store_memory=_STORE_BYTES,
                    log_to_driver=False,
                    configure_logging=False,
                    _temp_dir=folder,
                )
            return {"address": ray.get_runtime_context().gcs_address}
        except Exception as failure:  # noqa: BLE001 - the parent says it
            error = in_one_line(failure)
            _end()  # processes of it may have started
    return {"error": error}


@contextmanager
def alone_in_starting(patience_s: float = _START_S) -> Iterator[None]:
    """Wait until no other Ray is being started on this machine, for so many seconds at most.

    A Ray looks for free ports before it opens them. Of two that start at once either may fail,
    for they find the same.
    """
    # The lock is on a folder that every program has, so that no file is left and no program needs
    # to know of another's TMPDIR. The system lets go of it if this process dies.
    folder = os.open("/tmp", os.O_RDONLY)
    try:
        until = time.monotonic() + patience_s
        while not _lock(folder) and time.monotonic() < until:
            time.sleep(0.05)
        yield
    finally:
        os.close(folder)


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _adopt_orphans() -> None:
    """Become the parent of every process below that loses its own, to the end. Linux alone."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1)


def _end() -> None:
    import ray

    ray.shutdown()
    while children := _children():
        for process in children:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(process, 0)


def _children() -> list[int]:
    """Return the processes that are left. Linux alone tells them; elsewhere Ray ends its own."""
    lists = Path("/proc/self/task").glob("*/children")
    return [int(process) for children in lists for process in children.read_text().split()]
