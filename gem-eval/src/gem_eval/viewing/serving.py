"""Run the viewer's server until it is told to end. Knows nothing about pages."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import signal
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn

from gem_eval.errors import ViewError

__all__ = ["address_of", "is_local", "listening", "serve"]

_LAST_ANSWERS_S = 2


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises ViewError, which offers a port that is free."""
    try:
        family, _, _, _, resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, OverflowError, UnicodeError) as error:
        raise ViewError(
            f"gem-env view was to listen at {host} port {port}, and that is no address of this "
            f"machine ({error}). Leave --host out for this machine alone."
        ) from error
    address = str(resolved[0])
    try:
        return socket.create_server((address, port), family=family)
    except (OSError, OverflowError) as error:
        # Of the system's error the reason alone: its text has the address and a number as well.
        number = getattr(error, "errno", None)
        reason = error if number is None else os.strerror(number)
        raise ViewError(
            f"gem-env view was to listen at {host} port {port}, and cannot ({reason}). "
            f"{_offer(address, family)}"
        ) from error


def _offer(address: str, family: int) -> str:
    try:
        with socket.create_server((address, 0), family=family) as free:
            return f"A free port: --port {free.getsockname()[1]}"
    except OSError:  # the address itself is what cannot be had
        return "Leave --host out for this machine alone."


def address_of(listener: socket.socket) -> str:
    """Return where a browser finds what listens."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def is_local(listener: socket.socket) -> bool:
    """Say whether only this machine reaches it."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def serve(app: Any, listener: socket.socket) -> None:
    """Serve on a socket that listens; return after SIGINT or SIGTERM and the last answers."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
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
