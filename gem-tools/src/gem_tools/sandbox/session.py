"""A program that stays and answers: the host's side of a session in a jail."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType

from gem_tools.sandbox.engine import on_engine
from gem_tools.sandbox.errors import SandboxError, SessionEnded, SessionTimeout
from gem_tools.sandbox.jail import Jail
from gem_tools.sandbox.request import ExecRequest, ExecResult

__all__ = ["JailSession", "OpenSessions"]

_HEADER = struct.Struct(">I")
_CHUNK = 1 << 18
_STARTS_WITHIN_S = 10.0
"""How long a program may prepare itself before its first question. It must not rest sooner than
that: whoever opens a session early wants it ready."""
_RESTS_AFTER_S = 0.25
"""A question that comes sooner finds its program awake, and so costs no message to the zygote."""


class JailSession:
    """A session in a jail that has no program yet. Lives on the engine's loop, like its jail.

    `on_end` is called there once the jail is closed.
    """

    def __init__(self, jail: Jail, on_end: Callable[[JailSession], None]) -> None:
        self._jail = jail
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._turn = asyncio.Lock()
        self._is_resting = False
        self.is_closing = False

    async def start(self, request: ExecRequest) -> None:
        """Hand the program over."""
        handed_over = self._jail.start(request, is_session=True)
        self._ending = self._loop.create_task(self._ended())
        self._closing = self._loop.create_task(self._close())
        self._rest_after(_STARTS_WITHIN_S)
        await handed_over

    async def _ended(self) -> ExecResult:
        try:
            return await self._jail.ended()
        finally:
            with suppress(OSError):  # a process that is not of the jail any more may hold it
                self._jail.channel.shutdown(socket.SHUT_RDWR)

    async def _close(self) -> None:
        await asyncio.wait([self._ending])
        self._ending.exception()  # whoever asks is told; nobody need ask
        async with self._turn:  # a question that waits for its answer ends first
            self._timer.cancel()
            self._jail.close()
        self._on_end(self)

    async def ask(
        self, message: bytes, *, timeout_s: float, max_reply_bytes: int = 1 << 20
    ) -> bytes:
        return await on_engine(self._ask(message, timeout_s, max_reply_bytes))

    async def _ask(self, message: bytes, timeout_s: float, most: int) -> bytes:
        async with self._turn:
            self._wake()
            deadline = self._loop.call_later(timeout_s, self._jail.kill, "timeout")
            try:
                if not self._ending.done():
                    with suppress(EOFError, OSError):  # the program ended, or closed its end
                        return await self._exchange(message, most)
                raise _failure(await asyncio.shield(self._ending))
            except asyncio.CancelledError:  # the next question would get this one's answer
                self._jail.kill("killed")
                raise
            finally:
                deadline.cancel()
                self._rest_after(_RESTS_AFTER_S)

    def _rest_after(self, seconds: float) -> None:
        self._timer = self._loop.call_later(seconds, self._rest)

    def _rest(self) -> None:
        if not self._ending.done():
            self._is_resting = True
            self._jail.rest()

    def _wake(self) -> None:
        self._timer.cancel()
        if self._is_resting and not self._ending.done():
            self._is_resting = False
            self._jail.wake()

    async def _exchange(self, message: bytes, most: int) -> bytes:
        channel = self._jail.channel
        await self._loop.sock_sendall(channel, _HEADER.pack(len(message)) + message)
        (size,) = _HEADER.unpack(await self._read(_HEADER.size))
        if size > most:
            self._jail.kill("output_limit")
            raise EOFError
        return await self._read(size)

    async def _read(self, size: int) -> bytes:
        pieces = []
        while size:
            piece = await self._loop.sock_recv(self._jail.channel, min(size, _CHUNK))
            if not piece:
                raise EOFError
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    async def aclose(self) -> None:
        await on_engine(self.close())

    async def close(self) -> None:
        """End the jail, on the engine's loop."""
        self.is_closing = True
        self._jail.kill("killed")
        await asyncio.shield(self._closing)

    async def __aenter__(self) -> JailSession:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def _failure(result: ExecResult) -> SessionEnded:
    if result.status == "timeout":
        return SessionTimeout(
            "The program of a session gave no answer before its deadline, and was ended. Open "
            "another session.",
            result=result,
        )
    return SessionEnded(
        f"The program of a session ended instead of answering ({result.summary}). Open another "
        "session.",
        result=result,
    )


class OpenSessions:
    """The sessions of one sandbox, at most `most` at a time. Lives on the engine's loop."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._opening = 0
        self._open: set[JailSession] = set()

    async def open(self, jail: Callable[[], Awaitable[Jail]], request: ExecRequest) -> JailSession:
        """Open one in a jail that is made if there is room. Raises SandboxError."""
        count = sum(not session.is_closing for session in self._open)
        if count + self._opening >= self._most:
            raise SandboxError(
                f"A session was asked for, and {self._most} are open, which is the most. Close "
                "some, or make the sandbox with a higher `max_sessions`."
            )
        self._opening += 1
        try:
            session = JailSession(await jail(), self._open.discard)
            self._open.add(session)
        finally:
            self._opening -= 1
        try:
            await session.start(request)
        except BaseException:  # cancelled: nobody else would close it
            await session.close()
            raise
        return session

    async def close(self) -> None:
        """End them all."""
        await asyncio.gather(*(session.close() for session in self._open))
