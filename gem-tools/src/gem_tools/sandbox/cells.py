"""Python sessions, by name: cells that run one after the other and share their variables."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gem_tools.sandbox.engine import on_engine, on_engine_soon
from gem_tools.sandbox.errors import SessionEnded
from gem_tools.sandbox.inside import cells
from gem_tools.sandbox.request import ExecRequest, ExecResult, Sandbox, Session

__all__ = ["CellResult", "Notebooks"]


@dataclass(frozen=True, slots=True)
class CellResult:
    """What a cell wrote, the value of its last expression included, and whether it raised.

    `exit_status` is what it asked for by `sys.exit(3)` and the like, which ends nothing but the
    cell; 0 where it did not. `output_lost` says that it closed a stream with text still in it.
    `ending` says how the session ended, and with it all variables: None where it goes on. `loss`
    says why variables of earlier cells were gone when this one began, "" where they were not.
    """

    stdout: bytes = b""
    stderr: bytes = b""
    raised: bool = False
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    exit_status: int = 0
    output_lost: bool = False
    ending: ExecResult | None = None
    loss: str = ""


class Notebooks:
    """The Python sessions of one sandbox, each opened with its first cell.

    `memory_mb` is for a session, `max_output_bytes` for each stream of a cell. A session that is
    idle for `idle_s` is ended.
    """

    def __init__(
        self, sandbox: Sandbox, *, memory_mb: int, max_output_bytes: int, idle_s: float
    ) -> None:
        self._sandbox = sandbox
        self._most = max_output_bytes
        self._idle_s = idle_s
        self._request = ExecRequest(
            f"from gem_tools.sandbox.inside.cells import main\nmain({max_output_bytes})",
            imports=("numpy", "sympy"),
            memory_mb=memory_mb,
            max_output_bytes=max_output_bytes,
        )
        self._open: dict[str, _Notebook] = {}

    async def run(self, name: str, code: str, timeout_s: float) -> CellResult:
        """Run a cell after all earlier ones of this name. Raises SandboxError."""
        return await on_engine(self._run(name, code, timeout_s))

    async def _run(self, name: str, code: str, timeout_s: float) -> CellResult:
        if name not in self._open:
            opened = lambda: self._sandbox.open(self._request)  # noqa: E731
            self._open[name] = _Notebook(opened, self._most, self._idle_s)
        return await self._open[name].run(code, timeout_s)

    def end(self, name: str) -> None:
        """End the session of this name, if there is one, without waiting. From any thread."""
        on_engine_soon(self._end(name))

    async def _end(self, name: str) -> None:
        if name in self._open:
            await self._open.pop(name).close()

    async def aclose(self) -> None:
        """End all sessions."""
        await on_engine(self._close())

    async def _close(self) -> None:
        await asyncio.gather(*map(self._end, list(self._open)))


class _Notebook:
    """One session. It is taken out while a cell runs, and put back if it goes on."""

    def __init__(self, opened: Callable[[], Awaitable[Session]], most: int, idle_s: float) -> None:
        self._opened = opened
        self._most = most
        self._idle_s = idle_s
        self._turn = asyncio.Lock()
        self._session: Session | None = None
        self._clock: asyncio.TimerHandle | None = None
        self._loss = ""
        self._is_closed = False

    async def run(self, code: str, timeout_s: float) -> CellResult:
        async with self._turn:
            if self._clock is not None:
                self._clock.cancel()
            session = self._session or await self._opened()
            loss = self._loss
            self._loss = "the call before this one ended without an answer"
            self._session = None
            try:
                result = _result(await self._answer(session, code, timeout_s), loss)
            except SessionEnded as error:
                self._loss = ""  # whoever reads the result knows
                return CellResult(ending=error.result, loss=loss)
            self._loss = ""
            await self._put_back(session)
            return result

    async def _answer(self, session: Session, code: str, timeout_s: float) -> bytes:
        return await session.ask(
            code.encode("utf-8", "surrogatepass"),
            timeout_s=timeout_s,
            max_reply_bytes=cells.ANSWER.size + 2 * self._most,
        )

    async def _put_back(self, session: Session) -> None:
        if self._is_closed:
            await session.aclose()
            return
        self._session = session
        self._clock = asyncio.get_running_loop().call_later(self._idle_s, self._expire)

    def _expire(self) -> None:
        session = self._session
        self._session = None
        if session is not None:
            self._loss = f"nothing was called for {self._idle_s:g} s"
            on_engine_soon(session.aclose())

    async def close(self) -> None:
        self._is_closed = True
        if self._clock is not None:
            self._clock.cancel()
        session = self._session
        self._session = None
        if session is not None:
            await session.aclose()


def _result(answer: bytes, loss: str) -> CellResult:
    """Read an answer. A program can forge one, and makes what it says of itself no worse."""
    flags = 0
    status = 0
    length = 0
    if len(answer) >= cells.ANSWER.size:
        flags, status, length = cells.ANSWER.unpack_from(answer)
    text = answer[cells.ANSWER.size :]
    return CellResult(
        stdout=text[:length],
        stderr=text[length:],
        raised=bool(flags & cells.RAISED),
        stdout_truncated=bool(flags & cells.CUT_STDOUT),
        stderr_truncated=bool(flags & cells.CUT_STDERR),
        exit_status=status if flags & cells.EXITED else 0,
        output_lost=bool(flags & cells.LOST),
        loss=loss,
    )
