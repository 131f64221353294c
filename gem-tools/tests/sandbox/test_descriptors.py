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


@pytest.mark.parametrize("backend", ["bwrap", "process"])
def test_too_many_open_files_are_an_error_of_one_call_and_leave_nothing(
    backend: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if backend == "bwrap":
        request.getfixturevalue("sandbox")
    host = subprocess.run(
        [sys.executable, "-c", FULL, backend],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = host.stdout.split("\n")
    assert said[0] == "it goes on", host.stderr
    assert backend == "bwrap" or int(said[1]) == 0  # jails that stand ready come and go
    assert os.listdir(tmp_path) == []  # noqa: PTH208
