"""Run a search server until it is told to end. Knows nothing about what it serves."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette

__all__ = ["serve"]

_MOST_REQUESTS = 2048
_LAST_ANSWERS_S = 5


def serve(app: Starlette, listener: socket.socket) -> None:
    """Serve on a socket that listens; return after SIGINT or SIGTERM and the last answers."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        limit_concurrency=_MOST_REQUESTS,
        timeout_graceful_shutdown=_LAST_ANSWERS_S,
    )
    asyncio.run(_serve(_Server(config), listener))


class _Server(uvicorn.Server):
    """Leaves signals to `_serve`: uvicorn would raise them again after a clean end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _serve(server: _Server, listener: socket.socket) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, server.handle_exit, number, None)
    await server.serve(sockets=[listener])
