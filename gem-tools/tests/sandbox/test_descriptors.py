"""What becomes of a sandbox in a process that may open no more files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is of Linux")

FULL = """
import asyncio, os, resource, sys, warnings
warnings.simplefilter("ignore")
from gem_tools.sandbox import ExecRequest, SandboxError, make_sandbox

WAITS = ExecRequest("import time; time.sleep(600)")

async def main():
    sandbox = make_sandbox(sys.argv[1])
    await sandbox.run(ExecRequest("print('warm')"))  # what it opens once is open
    before = len(os.listdir("/proc/self/fd"))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)  # which programs need
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + 40, hard))
    sessions = []
    errors = []
    for _ in range(20):
        try:
            sessions.append(await asyncio.wait_for(sandbox.open(WAITS), 20))
        except SandboxError as error:
            errors.append(str(error))
    assert sessions and errors
    assert all("too many files open" in error for error in errors), errors
    for session in sessions:
        await session.aclose()
    result = await asyncio.wait_for(sandbox.run(ExecRequest("print('it goes on')")), 60)
    print(result.stdout.decode(), len(os.listdir("/proc/self/fd")) - before)
    await sandbox.aclose()

asyncio.run(main())
"""


NO_ROOM = """
import asyncio, os, resource, sys, warnings
warnings.simplefilter("ignore")
from gem_tools.sandbox import ExecRequest, SandboxError, make_sandbox

OF_ANOTHER_KIND = ExecRequest("import numpy")  # `bwrap` starts another process for it

async def main():
    sandbox = make_sandbox(sys.argv[1])
    await sandbox.run(ExecRequest("print('warm')"))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 60, hard))
    for room in (0, 1, 3, 6):
        kept = []
        while True:
            try:
                kept.append(os.open("/dev/null", os.O_RDONLY))
            except OSError:
                break
        for _ in range(room):
            os.close(kept.pop())
        try:
            await asyncio.wait_for(sandbox.run(OF_ANOTHER_KIND), 20)
        except SandboxError as error:
            assert "too many files open" in str(error), error
        else:
            raise AssertionError(f"it ran with {room} descriptors")
        for descriptor in kept:
            os.close(descriptor)
    result = await asyncio.wait_for(sandbox.run(ExecRequest("print('it goes on')")), 60)
    print(result.stdout.decode())
    await sandbox.aclose()

asyncio.run(main())
"""


@pytest.fixture(params=["bwrap", "process"])
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "bwrap":
        request.getfixturevalue("sandbox")
    return str(request.param)


def run_host(code: str, backend: str, temporary: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, backend],
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_too_many_open_files_are_an_error_of_one_call_and_leave_nothing(
    backend: str, tmp_path: Path
) -> None:
    host = run_host(FULL, backend, tmp_path)

    said = host.stdout.split("\n")
    assert said[0] == "it goes on", host.stderr
    assert backend == "bwrap" or int(said[1]) == 0  # jails that stand ready come and go
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_no_room_for_a_file_is_an_error_of_one_call_and_leaves_nothing(
    backend: str, tmp_path: Path
) -> None:
    host = run_host(NO_ROOM, backend, tmp_path)

    assert host.stdout.split("\n")[0] == "it goes on", host.stderr
    assert os.listdir(tmp_path) == []  # noqa: PTH208
