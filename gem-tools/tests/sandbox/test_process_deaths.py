"""What becomes of the sandbox `process` when the process that made it is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .processes import is_running, named, new_mark

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is of Linux")

HOST = """
import asyncio, sys, warnings
warnings.simplefilter("ignore")
from gem_tools.sandbox import ExecRequest, make_sandbox

asyncio.run(make_sandbox("process").run(ExecRequest(sys.argv[1], timeout_s=600)))
"""


def becomes(is_so: Callable[[], bool]) -> bool:
    limit = time.monotonic() + 60
    while not is_so() and time.monotonic() < limit:
        time.sleep(0.01)
    return is_so()


def test_a_host_that_is_killed_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    mark = new_mark()
    child = new_mark()
    program = (
        f"import os, time\nif os.fork() == 0:\n    os.setsid()\n    {named(child)}\n"
        f"else:\n    {named(mark)}\ntime.sleep(600)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", HOST, program], env=environment) as host:
        began = becomes(lambda: is_running(mark) and is_running(child))
        host.kill()

    assert began
    assert becomes(lambda: not is_running(mark) and not is_running(child))
    assert becomes(lambda: not list(tmp_path.iterdir()))
