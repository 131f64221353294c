"""What becomes of the sandbox `process` when the process that made it is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gem_tools.sandbox import ExecRequest, make_sandbox

from .processes import is_running, named, new_mark

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is of Linux")

HOST = """
import asyncio, sys, warnings
warnings.simplefilter("ignore")
from gem_tools.sandbox import ExecRequest, make_sandbox

asyncio.run(make_sandbox("process").run(ExecRequest(sys.argv[1], timeout_s=600)))
"""

WAITING = """
import signal, sys, warnings
warnings.simplefilter("ignore")
from gem.env import wait_for
from gem_tools.sandbox import ExecRequest, make_sandbox

signal.signal(signal.SIGINT, signal.default_int_handler)
wait_for(make_sandbox("process").run(ExecRequest(sys.argv[1], timeout_s=600)))
"""

FORKING = """
import asyncio, ctypes, os, signal, sys, warnings
warnings.simplefilter("ignore")
from gem_tools.sandbox import ExecRequest, make_sandbox

sandbox = make_sandbox("process", packages=["iniconfig"])

async def be_killed():
    await sandbox.open(ExecRequest("import time; time.sleep(600)", timeout_s=600))
    os.kill(os.getpid(), signal.SIGKILL)

async def close():
    await sandbox.aclose()

async def end():
    sys.exit()

ctypes.CDLL(None).prctl(36, 1)  # the supervisor becomes a child of this process: see it end
if os.fork() == 0:
    asyncio.run({"is killed": be_killed, "closes": close, "ends": end}[sys.argv[1]]())
    os._exit(0)
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
result = asyncio.run(sandbox.run(ExecRequest("import iniconfig; print('there')")))
print(result.stdout, result.stderr)
asyncio.run(sandbox.aclose())
"""

FORGED = """
import os, signal, time
try:
    os.kill(os.getppid(), signal.SIGRTMIN)
except OSError:  # newer kernels keep a program from that
    pass
time.sleep(0.3)
print("it went on")
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


def test_a_host_that_is_interrupted_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    mark = new_mark()
    command = [sys.executable, "-c", WAITING, f"import time\n{named(mark)}\ntime.sleep(600)"]
    with subprocess.Popen(
        command, env={**os.environ, "TMPDIR": str(tmp_path)}, stderr=subprocess.DEVNULL
    ) as host:
        began = becomes(lambda: is_running(mark))
        host.send_signal(signal.SIGINT)

    assert began
    assert becomes(lambda: not is_running(mark))
    assert becomes(lambda: not list(tmp_path.iterdir()))


@pytest.mark.parametrize("end", ["is killed", "closes", "ends"])
def test_a_fork_takes_no_packages_from_the_programs_of_its_parent(tmp_path: Path, end: str) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", FORKING, end]

    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout

    assert output == b"b'there\\n' b''\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore:The sandbox `process`")
def test_no_program_makes_its_supervisor_think_that_the_host_died() -> None:
    async def outputs() -> list[bytes]:
        sandbox = make_sandbox("process")
        # Twice, for what the first might have removed serves the second too.
        results = [await sandbox.run(ExecRequest(FORGED)) for _ in range(2)]
        await sandbox.aclose()
        return [result.stdout for result in results]

    assert asyncio.run(outputs()) == [b"it went on\n"] * 2
