"""Try the walls of a sandbox, one after the other, with programs that are harmless if they fall."""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gem_tools.sandbox.request import ExecRequest, ExecResult, Sandbox

__all__ = ["Wall", "check_walls"]

_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Wall:
    """One thing that should hold: whether it does, and what happened if not."""

    name: str
    holds: bool
    what_happened: str = ""


async def check_walls(sandbox: Sandbox) -> AsyncIterator[Wall]:
    """Try each wall. Takes a few seconds. Raises SandboxError where the sandbox cannot run."""
    for name, attempt in _ATTEMPTS.items():
        what_happened = await attempt(sandbox)
        yield Wall(name, not what_happened, what_happened)


async def _run(sandbox: Sandbox, code: str, **limits: float) -> ExecResult:
    request = {"timeout_s": _TIMEOUT_S, **limits}
    return await sandbox.run(ExecRequest(code, **request))  # type: ignore[arg-type]


def _ending(result: ExecResult) -> str:
    last = result.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return f"the program ended with {result.summary}" + (f": {last}" if last else "")


async def _runs_programs(sandbox: Sandbox) -> str:
    result = await _run(sandbox, "print(6 * 7)")
    return "" if (result.status, result.stdout) == ("ok", b"42\n") else _ending(result)


async def _hides_the_environment(sandbox: Sandbox) -> str:
    name = f"GEM_{secrets.token_hex(4)}"
    secret = secrets.token_hex(16)
    os.environ[name] = secret
    try:
        result = await _run(sandbox, "import os; print(dict(os.environ))")
    finally:
        del os.environ[name]
    return "a variable of this process was read" if secret.encode() in result.stdout else ""


async def _hides_files(sandbox: Sandbox) -> str:
    secret = secrets.token_hex(16)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        file = Path(folder, "secret")
        file.write_text(secret)
        result = await _run(sandbox, f"print(open({str(file)!r}).read())")
    return "a file of this machine was read" if secret.encode() in result.stdout else ""


async def _protects_files(sandbox: Sandbox) -> str:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        file = Path(folder, "written")
        await _run(sandbox, f"open({str(file)!r}, 'w').write('x')")
        return "a file of this machine was written" if file.exists() else ""


async def _has_no_network(sandbox: Sandbox) -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = server.getsockname()
        await _run(sandbox, f"import socket; socket.create_connection({address!r}, timeout=2)")
        with suppress(BlockingIOError):
            server.accept()[0].close()
            return "a server on this machine was reached"
    return ""


async def _hides_processes(sandbox: Sandbox) -> str:
    code = f"import os; os.kill({os.getpid()}, 0); print(os.getpid())"
    result = await _run(sandbox, code)
    own_number = result.stdout.strip() == str(os.getpid()).encode()
    reached = result.status == "ok" and not own_number
    return "this process could be signalled" if reached else ""


async def _limits_memory(sandbox: Sandbox) -> str:
    code = "import os\nfor _ in range(4): os.fork()\nheld = bytearray(b'x') * (64 << 20)\n"
    result = await _run(sandbox, f"{code}import time; time.sleep(60)", memory_mb=256)
    return "" if result.status == "memory" else _ending(result)


async def _limits_output(sandbox: Sandbox) -> str:
    result = await _run(sandbox, "while True: print('x' * 999)", max_output_bytes=10_000)
    return "" if result.status == "output_limit" else _ending(result)


async def _ends_at_the_deadline(sandbox: Sandbox) -> str:
    code = "import os, signal\nfor n in (2, 14, 15): signal.signal(n, signal.SIG_IGN)\n"
    result = await _run(sandbox, f"{code}os.fork()\nwhile True: pass", timeout_s=1.0)
    return "" if result.status == "timeout" else _ending(result)


async def _forgets(sandbox: Sandbox) -> str:
    name = f"/tmp/{secrets.token_hex(8)}"
    await _run(sandbox, f"open({name!r}, 'w').close(); import json; json.loads = None")
    result = await _run(
        sandbox, f"import json, os; print(json.loads('1'), os.path.exists({name!r}))"
    )
    return "" if result.stdout == b"1 False\n" else "a program saw what an earlier one did"


_ATTEMPTS: dict[str, Callable[[Sandbox], Awaitable[str]]] = {
    "runs programs": _runs_programs,
    "hides the environment": _hides_the_environment,
    "hides files": _hides_files,
    "protects files": _protects_files,
    "has no network": _has_no_network,
    "hides processes": _hides_processes,
    "limits memory in total": _limits_memory,
    "limits output": _limits_output,
    "ends everything at the deadline": _ends_at_the_deadline,
    "forgets each program": _forgets,
}
