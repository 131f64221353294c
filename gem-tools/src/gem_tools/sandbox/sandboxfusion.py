"""Programs on a SandboxFusion server: POST /run_code, for clusters. Needs the extra `http`.

The server decides how strong its walls are, and on its network and environment; this client
holds it to the deadline and to a reply of bounded size.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import weakref
from typing import Any

from gem.errors import in_one_line
from gem.registry import check_requirements
from gem_tools.sandbox.engine import on_engine, on_engine_soon
from gem_tools.sandbox.errors import SandboxError
from gem_tools.sandbox.request import ExecRequest, ExecResult, Session, Status

__all__ = ["SandboxFusion"]

_REQUIRES = ("aiohttp>=3.12", "httpx>=0.27", "httpx-aiohttp>=0.2")


class SandboxFusion:
    """Run each program on the server at `url`. Nothing is tried twice.

    `grace_s` is how long a reply may take beyond the program's own deadline; `max_parallel` is
    how many programs are on their way at once, and `token` goes into the Authorization header.
    Raises MissingRequirement without httpx.
    """

    name = "sandboxfusion"

    def __init__(
        self,
        url: str,
        *,
        grace_s: float = 10.0,
        max_parallel: int = 64,
        token: str | None = None,
    ) -> None:
        check_requirements(_REQUIRES, subject="The sandbox `sandboxfusion`", of="gem-tools")
        self._url = f"{url.rstrip('/')}/run_code"
        self._grace_s = grace_s
        self._most = max_parallel
        self._token = token
        self._client: Any = None
        self._ends_it: Any = None
        self._places: asyncio.Semaphore | None = None
        self.description = f"a SandboxFusion server, {url}"

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run a program. Raises SandboxError where the server fails or cannot be reached."""
        body = _body(request)
        return await on_engine(self._run(body, request))

    async def open(self, request: ExecRequest) -> Session:
        """Raise SandboxError: this API has no sessions."""
        raise SandboxError(
            "A session was asked for, and SandboxFusion's /run_code has none. Take the backend "
            "`bwrap`, or run each program by itself."
        )

    async def _run(self, body: dict[str, Any], request: ExecRequest) -> ExecResult:
        if self._client is None:
            self._client = self._new_client()
            self._places = asyncio.Semaphore(self._most)
            # A client that nobody closes is closed when this sandbox is collected: the client is
            # aiohttp's, which warns of one that is collected open.
            self._ends_it = weakref.finalize(self, _let_go, os.getpid(), self._client)
            self._ends_it.atexit = False
        assert self._places is not None
        most = 12 * request.max_output_bytes + (1 << 16)  # JSON takes up to six bytes for one
        async with self._places:
            try:
                limit = request.timeout_s + self._grace_s
                reply = await asyncio.wait_for(self._post(body, most), limit)
            except asyncio.TimeoutError:
                raise self._failure(f"it gave no answer within {limit:g} s") from None
        return _result(self._checked(reply), request)

    def _new_client(self) -> Any:
        import httpx  # heavy: 0.1 s
        from httpx_aiohttp import HttpxAiohttpClient  # heavy: 0.2 s

        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        # httpx's own pool walks over all of its connections for each request. `max_parallel` is
        # the limit, so there is none here, for which 0 is aiohttp's word.
        limits = httpx.Limits(max_connections=0)
        return HttpxAiohttpClient(headers=headers, timeout=None, limits=limits)

    async def _post(self, body: dict[str, Any], most: int) -> bytes:
        import aiohttp
        import httpx

        try:
            async with self._client.stream("POST", self._url, json=body) as response:
                content = bytearray()
                async for piece in response.aiter_bytes():
                    content += piece
                    if len(content) > most:
                        raise self._failure(f"its answer has more than {most} bytes")
        # The transport lets those of aiohttp's errors through that it has no name for.
        except (httpx.HTTPError, aiohttp.ClientError) as error:
            raise self._failure(in_one_line(error)) from error
        if response.status_code != httpx.codes.OK:
            excerpt = " ".join(content[:300].decode(errors="replace").split())
            raise self._failure(f"it answered {response.status_code}: {excerpt}")
        return bytes(content)

    def _checked(self, reply: bytes) -> dict[str, Any]:
        """Return `run_result` of a reply of the expected shape. Raises SandboxError."""
        try:
            answer = json.loads(reply)
            ran = answer["run_result"]
            if answer["status"] != "SandboxError" and ran["status"] != "Error":
                return {name: ran.get(name) for name in _FIELDS}
            why = f"it failed: {str(answer.get('message'))[:300]}"
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            why = f"its answer has another shape ({in_one_line(error)})"
        raise self._failure(why)

    def _failure(self, why: str) -> SandboxError:
        return SandboxError(
            f"The sandbox server at {self._url} ran no program: {why}. See that it is there, and "
            "that it speaks SandboxFusion's /run_code."
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await on_engine(self._close())

    async def _close(self) -> None:
        if self._client is not None:
            self._ends_it.detach()
            client = self._client
            self._client = None  # before anything is awaited: who comes meanwhile makes another
            await client.aclose()


def _let_go(pid: int, client: Any) -> None:
    """Close the client that a collected sandbox has left."""
    if pid == os.getpid():
        on_engine_soon(client.aclose())
    else:
        _of_parents.append(client)


_of_parents: list[Any] = []  # never collected: that would close connections of the parent


_FIELDS = ("status", "return_code", "stdout", "stderr", "execution_time")


def _body(request: ExecRequest) -> dict[str, Any]:
    if request.arguments:
        raise SandboxError("A program was given arguments, which this API has no place for.")
    try:
        stdin = request.stdin.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SandboxError("A program's stdin is no UTF-8, and this API sends text.") from error
    files = {name: base64.b64encode(file).decode() for name, file in request.files.items()}
    return {
        "language": "python",
        "code": request.code,
        "stdin": stdin,
        "files": files,
        "run_timeout": request.timeout_s,
        "memory_limit_MB": request.memory_mb,
    }


def _result(ran: dict[str, Any], request: ExecRequest) -> ExecResult:
    most = request.max_output_bytes
    stdout, stderr = (
        str(ran[name] or "").encode("utf-8", "replace") for name in ("stdout", "stderr")
    )
    status, exit_code, signal = _ending(ran)
    return ExecResult(
        status=status,
        exit_code=exit_code,
        signal=signal,
        stdout=stdout[:most],
        stderr=stderr[:most],
        stdout_truncated=len(stdout) > most,
        stderr_truncated=len(stderr) > most,
        elapsed_s=float(ran["execution_time"] or 0.0),
    )


def _ending(ran: dict[str, Any]) -> tuple[Status, int | None, int | None]:
    code = ran["return_code"]
    if ran["status"] == "TimeLimitExceeded":
        return "timeout", None, None
    if not isinstance(code, int):
        return "killed", None, None
    if code < 0:
        return "killed", None, -code
    return ("error" if code else "ok"), code, None
