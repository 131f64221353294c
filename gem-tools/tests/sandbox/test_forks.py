"""Parts of a session's program, each in a fork with a deadline and streams of its own."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from gem_tools.sandbox import ExecRequest, Sandbox, SessionEnded
from gem_tools.sandbox.bwrap import BwrapSandbox

DRIVER = """
import base64, json
from gem_tools.sandbox.inside.channel import receive, send
from gem_tools.sandbox.inside.forks import run_fork
x = 0
print("the driver's", end="")
while (message := receive()) is not None:
    job = json.loads(message)
    code = compile(job.pop("code"), "test.py", "exec")
    stdin = job.pop("stdin", "").encode()
    ended = run_fork(lambda: exec(code, {"x": x}), stdin=stdin, **job)
    fields = ended._asdict() | {"stdout": ended.stdout.decode(), "stderr": ended.stderr.decode()}
    send(json.dumps(fields).encode())
"""


def forks(sandbox: Sandbox, *codes: str, memory_mb: int = 128, **job: Any) -> list[dict[str, Any]]:
    async def run_all() -> list[dict[str, Any]]:
        async with await sandbox.open(ExecRequest(DRIVER, memory_mb=memory_mb)) as session:
            return [
                json.loads(
                    await session.ask(
                        json.dumps({"timeout_s": 10, **job, "code": code}).encode(),
                        timeout_s=20,
                        max_reply_bytes=1 << 22,
                    )
                )
                for code in codes
            ]

    return asyncio.run(run_all())


def test_a_fork_says_what_it_wrote_and_how_it_ended(backend: Sandbox) -> None:
    code = "import sys; print(input() * 2); print('e', file=sys.stderr); sys.exit(3)"

    [ended] = forks(backend, code, stdin="ab\n")

    assert (ended["status"], ended["exit_code"], ended["signal"]) == ("error", 3, None)
    assert (ended["stdout"], ended["stderr"]) == ("abab\n", "e\n")


def test_forks_do_not_see_each_other(backend: Sandbox) -> None:
    first, second = forks(backend, "x += 1; print(x)", "x += 1; print(x)")

    assert (first["stdout"], second["stdout"]) == ("1\n", "1\n")
    assert first["status"] == second["status"] == "ok"


def test_each_way_to_fail_has_its_word_and_spares_the_next(backend: Sandbox) -> None:
    codes = {
        "error": "1 / 0",
        "timeout": "while True: pass",
        "memory": "bytearray(1 << 30)",
        "output_limit": "print('x' * 5000)",
        "killed": "import os; os.kill(os.getpid(), 9)",
        "ok": "print(1)",
    }

    ended = forks(backend, *codes.values(), timeout_s=0.5, max_output_bytes=4000)

    assert [each["status"] for each in ended] == list(codes)


def test_a_traceback_shows_the_program_alone(backend: Sandbox) -> None:
    [ended] = forks(backend, "1 / 0")

    assert ended["stderr"].startswith('Traceback (most recent call last):\n  File "main.py"')
    assert "forks.py" not in ended["stderr"]


def test_output_without_end_ends(backend: Sandbox) -> None:
    [ended] = forks(backend, "while True: print('x' * 9999)")

    assert (ended["status"], len(ended["stdout"])) == ("output_limit", 1 << 20)


def test_what_a_fork_leaves_behind_is_ended(sandbox: BwrapSandbox) -> None:
    leave = """
import os, time
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
        os._exit(0)
"""

    ended = forks(sandbox, *[leave] * 8)  # all at once they would be more than it may have

    assert [each["status"] for each in ended] == ["ok"] * 8


def test_a_fork_cannot_answer_in_the_place_of_its_driver(backend: Sandbox) -> None:
    [ended] = forks(backend, "import os; os.write(3, b'\\0\\0\\0\\1x')")

    assert "Bad file descriptor" in ended["stderr"]


def test_a_fork_that_ends_its_driver_ends_the_session(sandbox: BwrapSandbox) -> None:
    with pytest.raises(SessionEnded, match="SIGKILL"):
        forks(sandbox, "import os; os.kill(os.getppid(), 9)")


def test_a_program_without_walls_cannot_signal_all_processes(backend: Sandbox) -> None:
    if backend.name != "process":
        pytest.skip("all processes of a jail are its own")

    [ended] = forks(backend, "import os; os.kill(-1, 0)")

    assert "PermissionError" in ended["stderr"]
