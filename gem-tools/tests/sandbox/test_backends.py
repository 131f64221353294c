"""What every sandbox of this machine promises. What they keep out is for test_attacks.py."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from gem.errors import BadArguments
from gem_tools.sandbox import (
    ExecRequest,
    ExecResult,
    Sandbox,
    SandboxError,
    make_sandbox,
)
from gem_tools.sandbox.bwrap import BwrapSandbox
from gem_tools.sandbox.engine import on_engine

from .processes import is_running, named, new_mark, processes

Runs = Callable[..., ExecResult]


@pytest.fixture(scope="module")
def run(backend: Sandbox) -> Runs:
    """Return a function that runs code in a sandbox, once for each of this machine's sandboxes.

    The code has a minute, unless a test says otherwise.
    """

    def run(code: str, **fields: Any) -> ExecResult:
        request = ExecRequest(code, **{"timeout_s": 60.0, **fields})
        return asyncio.run(backend.run(request))

    return run


def test_a_program_that_ends_well_is_ok(run: Runs) -> None:
    result = run("print(1 + 1)")

    assert (result.status, result.exit_code, result.signal) == ("ok", 0, None)
    assert (result.stdout, result.stderr) == (b"2\n", b"")


def test_standard_input_arrives_to_its_last_byte(run: Runs) -> None:
    content = bytes(range(256)) * 4096

    result = run("import sys; print(len(sys.stdin.buffer.read()))", stdin=content)

    assert result.stdout == f"{len(content)}\n".encode()


def test_empty_standard_input_is_empty(run: Runs) -> None:
    assert run("import sys; print(repr(sys.stdin.read()))").stdout == b"''\n"


def test_standard_input_that_nobody_reads_delays_nothing(run: Runs) -> None:
    result = run("print('\u00e9' + input())", stdin="\u4e2d".encode())

    assert result.stdout == "\u00e9\u4e2d\n".encode()


def test_output_up_to_the_limit_is_whole(run: Runs) -> None:
    result = run("print('x' * 99999)", max_output_bytes=100_000)

    assert (result.status, len(result.stdout)) == ("ok", 100_000)
    assert not result.stdout_truncated


def test_more_output_is_cut_and_flagged(run: Runs) -> None:
    result = run("print('x' * 100000)", max_output_bytes=100_000)

    assert (result.status, len(result.stdout)) == ("output_limit", 100_000)
    assert (result.stdout_truncated, result.stderr_truncated) == (True, False)


@pytest.mark.slow
def test_output_before_the_deadline_is_kept(run: Runs) -> None:
    result = run("print('early', flush=True)\nwhile True: pass", timeout_s=2.0)

    assert (result.status, result.stdout) == ("timeout", b"early\n")


HOLDS_BACK = """
import sys
class Late:
    def __init__(self):
        self.first = sys.stdout
        self.texts = []
    def write(self, text):
        self.texts.append(text)
    def flush(self):
        self.first.write("".join(self.texts))
        self.texts.clear()
"""


def test_memory_is_limited(run: Runs) -> None:
    assert b"MemoryError" in run("bytearray(10**9)", memory_mb=100).stderr


def test_memory_within_the_limit_is_there(run: Runs) -> None:
    assert run("print(len(bytearray(b'x') * (90 << 20)))", memory_mb=100).status == "ok"


def test_programs_may_start_programs(run: Runs) -> None:
    code = """
import multiprocessing, subprocess, sys
print(subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True).stdout)
with multiprocessing.Pool(2) as pool:
    print(pool.map(abs, [-1, 2]))
"""
    assert run(code).stdout == b"b'42\\n'\n[1, 2]\n"


def test_the_streams_are_those_of_an_interpreter(run: Runs) -> None:
    code = (
        "import sys\nstreams = (sys.stdin, sys.stdout, sys.stderr)\n"
        "print(*((stream.name, stream.mode, stream.fileno()) for stream in streams))"
    )
    own = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)

    assert run(code).stdout == own.stdout


@pytest.mark.parametrize(
    "code",
    [
        "import io, sys\nfirst = sys.stdout\nsys.stdout = io.StringIO()\nfirst.write('said')",
        "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.detach())\nprint('said', end='')",
        "import io, sys\nout = io.TextIOWrapper(sys.stdout.buffer)\nout.write('said')",
        "out = open(1, 'w')\nout.write('said')",
        "import sys\nsys.stdout.write('said')\nsys.stdout.close()",
        f"{HOLDS_BACK}sys.stdout = Late()\nprint('said', end='')",
        "class Odd:\n    @property\n    def __class__(self): raise SystemExit\n"
        "odd = Odd()\nout = open(1, 'w')\nout.write('said')",
    ],
)
def test_what_a_program_wrote_to_streams_of_its_own_is_there(run: Runs, code: str) -> None:
    result = run(code)

    assert (result.status, result.stdout) == ("ok", b"said")


def test_streams_are_flushed_in_the_order_of_an_interpreter(run: Runs) -> None:
    code = (
        "import io, sys\nfirst = sys.stdout\nsys.stdout = open(1, 'w', closefd=False)\n"
        "own = open(1, 'w', closefd=False)\nprint('a')\nfirst.write('b ')\nown.write('c ')"
    )
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    own = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, check=True
    )

    assert run(code).stdout == own.stdout


@pytest.mark.parametrize(
    "end",
    ["del sys.stdout", "Late.flush = lambda self: sys.exit()\nsys.stdout = Late()"],
)
def test_a_standard_stream_that_cannot_be_flushed_keeps_no_other_from_it(
    run: Runs, end: str
) -> None:
    assert run(f"{HOLDS_BACK}out = open(1, 'w')\nout.write('said')\n{end}").stdout == b"said"


def test_numpy_is_there_where_it_is_installed(run: Runs) -> None:
    pytest.importorskip("numpy", reason="numpy is not installed")

    assert run("import numpy as np; print(np.arange(3).sum())").stdout == b"3\n"


def test_installed_packages_that_were_not_named_are_absent(run: Runs) -> None:
    assert b"No module named 'gem'" in run("import gem").stderr


def test_sets_are_printed_in_one_order(run: Runs) -> None:
    code = "print({'a', 'b', 'c', 'd', 'e', 'f'})"

    assert run(code).stdout == run(code + "\nimport numpy").stdout


def test_chance_differs_from_call_to_call(run: Runs) -> None:
    code = "import random, numpy; print(random.random(), numpy.random.random())"

    first, second = (set(run(code).stdout.split()) for _ in range(2))

    assert first.isdisjoint(second)


def test_a_network_that_is_not_there_is_refused(run: Runs) -> None:
    with pytest.raises(SandboxError, match="network"):
        run("", network=True)


def test_many_calls_at_once_answer_each_to_its_own(sandbox: BwrapSandbox) -> None:
    async def run_all() -> list[bytes]:
        calls = [sandbox.run(ExecRequest(f"print({number})")) for number in range(40)]
        return [result.stdout for result in await asyncio.gather(*calls)]

    assert asyncio.run(run_all()) == [f"{number}\n".encode() for number in range(40)]


def test_calls_from_several_threads_and_loops_share_a_sandbox(sandbox: BwrapSandbox) -> None:
    results: list[bytes] = []

    def call() -> None:
        results.append(asyncio.run(sandbox.run(ExecRequest("print('here')"))).stdout)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [b"here\n"] * 4


def test_a_cancelled_call_ends_its_program(sandbox: BwrapSandbox) -> None:
    mark = new_mark()

    async def cancel() -> None:
        call = asyncio.create_task(sandbox.run(ExecRequest(busy(mark), timeout_s=60)))
        while not is_running(mark):
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancel())
    limit = time.monotonic() + 30
    while is_running(mark) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not is_running(mark)


def busy(mark: str) -> str:
    """Return a program that runs under this name until it is ended."""
    return f"{named(mark)}\nwhile True: pass"


@pytest.mark.usefixtures("sandbox")  # skips where there is none
def test_a_lost_zygote_is_an_error_of_its_calls_and_then_replaced() -> None:
    mark = new_mark()
    of_others = zygotes()
    sandbox = BwrapSandbox(packages=())

    async def lose() -> ExecResult:
        call = asyncio.create_task(sandbox.run(ExecRequest(busy(mark), timeout_s=60)))
        while not is_running(mark):
            await asyncio.sleep(0.01)
        for zygote in zygotes() - of_others:
            os.kill(zygote, 9)
        return await call

    try:
        asyncio.run(sandbox.run(ExecRequest("pass")))
        with pytest.raises(SandboxError, match="process that starts jails"):
            asyncio.run(lose())
        assert asyncio.run(sandbox.run(ExecRequest("print('again')"))).stdout == b"again\n"
    finally:
        sandbox.close()


def zygotes() -> set[int]:
    """Return the numbers of the processes that sandboxes of this process have started."""
    return {
        process.number
        for process in processes()
        if (process.parent, process.name) == (os.getpid(), "bwrap")
    }


def test_a_closed_sandbox_leaves_no_process() -> None:
    try:
        sandbox = make_sandbox()
    except SandboxError:
        pytest.skip("bubblewrap is not installed")
    before = zygotes()

    async def run_and_close() -> set[int]:
        await sandbox.run(ExecRequest("print(1)"))
        running = zygotes()
        await sandbox.aclose()
        return running

    running = asyncio.run(run_and_close())

    assert len(running - before) == 1
    assert zygotes() == before


def test_a_missing_bubblewrap_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(SandboxError, match=r"apt-get install bubblewrap.*`process`"):
        make_sandbox()


def test_an_unknown_backend_is_refused_by_name() -> None:
    with pytest.raises(BadArguments, match="There is no sandbox 'docker'"):
        make_sandbox("docker")


@pytest.mark.parametrize(
    "fields",
    [
        {"timeout_s": 0},
        {"timeout_s": float("nan")},
        {"memory_mb": 0},
        {"max_output_bytes": 0},
        {"files": {"../up": b""}},
        {"files": {"/etc/passwd": b""}},
        {"files": {"": b""}},
    ],
    ids=str,
)
def test_a_request_that_cannot_be_run_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(BadArguments, match="must"):
        ExecRequest("", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "imports", "loaded"),
    [
        ("", (), b"[]\n"),
        ("# numpy\nnumpy = 'sympy'", (), b"[]\n"),
        ("def f():\n    import os, numpy as np", (), b"['numpy']\n"),
        ("import os; from numpy import random", (), b"['numpy']\n"),
        ("", ("numpy",), b"['numpy']\n"),
        ("from sympy import *", (), b"['numpy', 'sympy']\n"),
    ],
    ids=["nothing", "words", "in a line", "from", "told", "sympy"],
)
def test_what_a_program_imports_is_loaded_before_it_arrives(
    sandbox: BwrapSandbox, code: str, imports: tuple[str, ...], loaded: bytes
) -> None:
    pytest.importorskip("sympy")
    before = "import sys; print(sorted({'numpy', 'sympy'} & set(sys.modules)))\n"

    result = asyncio.run(sandbox.run(ExecRequest(before + code, imports=imports)))

    assert result.stdout == loaded


def test_work_on_the_engine_calls_a_sandbox_without_a_detour(sandbox: BwrapSandbox) -> None:
    async def run_twice() -> list[bytes]:
        return [(await sandbox.run(ExecRequest(f"print({number})"))).stdout for number in range(2)]

    assert asyncio.run(on_engine(run_twice())) == [b"0\n", b"1\n"]


def test_a_preparation_that_fails_is_told_even_where_its_error_has_no_text() -> None:
    statement = "class Mute(Exception):\n    __str__ = None\nraise Mute"
    try:
        sandbox = BwrapSandbox(preparations=[statement])
    except SandboxError:
        pytest.skip("bubblewrap is not installed")

    with contextlib.closing(sandbox), pytest.raises(SandboxError, match="Mute: <exception str"):
        asyncio.run(sandbox.run(ExecRequest("print(1)")))


def test_a_program_finds_what_its_sandbox_prepared() -> None:
    long = "x" * (1 << 18)
    statement = f"import sys, types; sys.modules['ready'] = types.SimpleNamespace(text={long!r})"
    try:
        sandbox = BwrapSandbox(preparations=[statement])
    except SandboxError:
        pytest.skip("bubblewrap is not installed")
    try:
        result = asyncio.run(sandbox.run(ExecRequest("import ready; print(len(ready.text))")))
    finally:
        sandbox.close()

    assert (result.stdout, result.stderr) == (b"262144\n", b"")
