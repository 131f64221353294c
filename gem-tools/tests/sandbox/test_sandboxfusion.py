"""The client against a server on loopback that speaks the documented API, and runs programs."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gem_tools.sandbox import ExecRequest, ExecResult, SandboxError, make_sandbox
from gem_tools.sandbox.engine import on_engine_now

pytest.importorskip("httpx", reason="the extra `http` is not installed")


def _run_program(request: dict[str, Any]) -> dict[str, Any]:
    assert request["language"] == "python"
    with tempfile.TemporaryDirectory() as folder:
        for name, content in request["files"].items():
            Path(folder, name).write_bytes(base64.b64decode(content))
        try:
            done = subprocess.run(
                [sys.executable, "-c", request["code"]],
                cwd=folder,
                input=request["stdin"].encode(),
                capture_output=True,
                timeout=request["run_timeout"],
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"status": "TimeLimitExceeded", "execution_time": request["run_timeout"]}
    return {
        "status": "Finished",
        "execution_time": 0.1,
        "return_code": done.returncode,
        "stdout": done.stdout.decode(),
        "stderr": done.stderr.decode(),
    }


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = 200
        answer = b""
        if self.path != "/run_code":
            status = 404
        elif request["code"].startswith("answer:"):
            answer = request["code"][7:].encode()
        else:
            ran = _run_program(request)
            failed = ran.get("return_code") != 0
            answer = json.dumps(
                {"status": "Failed" if failed else "Success", "message": "", "run_result": ran}
            ).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def run(address: str, code: str, **fields: Any) -> ExecResult:
    async def call() -> ExecResult:
        sandbox = make_sandbox("sandboxfusion", url=address)
        try:
            return await sandbox.run(ExecRequest(code, **fields))
        finally:
            await sandbox.aclose()

    return asyncio.run(call())


def test_a_program_runs_on_the_server(address: str) -> None:
    result = run(address, "print(input() + open('a').read())", stdin=b"x", files={"a": b"y"})

    assert (result.status, result.exit_code, result.stdout) == ("ok", 0, b"xy\n")


def test_an_error_has_its_exit_status_and_its_output(address: str) -> None:
    result = run(address, "import sys; print('out'); sys.exit('err')")

    assert (result.status, result.exit_code) == ("error", 1)
    assert (result.stdout, result.stderr) == (b"out\n", b"err\n")


def test_a_signal_is_told_apart_from_an_exit(address: str) -> None:
    result = run(address, "import os; os.kill(os.getpid(), 9)")

    assert (result.status, result.exit_code, result.signal) == ("killed", None, 9)


def test_a_deadline_on_the_server_is_a_timeout(address: str) -> None:
    assert run(address, "while True: pass", timeout_s=0.5).status == "timeout"


def test_output_is_cut_at_the_limit(address: str) -> None:
    result = run(address, "print('x' * 1000)", max_output_bytes=100)

    assert (len(result.stdout), result.stdout_truncated) == (100, True)


@pytest.mark.parametrize(
    "answer",
    [
        '{"status": "SandboxError", "message": "no room", "run_result": {}}',
        '{"status": "Success", "run_result": null}',
        "[]",
        "no JSON",
        "",
        "[" * 100_000,
    ],
    ids=["failed", "empty", "list", "text", "nothing", "deep"],
)
def test_a_server_that_fails_is_an_error_and_no_result(address: str, answer: str) -> None:
    with pytest.raises(SandboxError, match="ran no program"):
        run(address, f"answer:{answer}")


def test_an_endless_answer_is_not_read_to_its_end(address: str) -> None:
    with pytest.raises(SandboxError, match="more than"):
        run(address, "answer:" + "x" * 100_000, max_output_bytes=1)


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(SandboxError, match=r"http://127\.0\.0\.1:1/run_code"):
        run("http://127.0.0.1:1", "print(1)")


@pytest.mark.parametrize("fields", [{"stdin": b"\xff"}, {"arguments": ("a",)}], ids=str)
def test_what_the_api_cannot_carry_is_refused(address: str, fields: dict[str, Any]) -> None:
    with pytest.raises(SandboxError, match="this API"):
        run(address, "", **fields)


def test_a_session_is_refused(address: str) -> None:
    sandbox = make_sandbox("sandboxfusion", url=address)

    with pytest.raises(SandboxError, match="has none"):
        asyncio.run(sandbox.open(ExecRequest("pass")))


def test_a_client_that_nobody_closes_is_closed_when_it_is_collected(
    address: str, recwarn: pytest.WarningsRecorder
) -> None:
    sandbox = make_sandbox("sandboxfusion", url=address)
    asyncio.run(sandbox.run(ExecRequest("pass")))

    del sandbox
    gc.collect()
    on_engine_now(_all_else())
    gc.collect()
    assert [warning for warning in recwarn if warning.category is ResourceWarning] == []


async def _all_else() -> None:
    """Wait until the engine has nothing else to do."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others)
