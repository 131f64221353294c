"""A server of ours, by the SDK: `python own_server.py` over stdio, with `http` over HTTP."""

from __future__ import annotations

import asyncio
import os
import sys

from mcp.server.mcpserver import Image, MCPServer

server = MCPServer("own")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@server.tool()
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


@server.tool()
async def hang() -> str:
    """Never answer."""
    await asyncio.Event().wait()
    return ""


@server.tool()
def fail(why: str) -> str:
    """Raise an error."""
    raise ValueError(why)


@server.tool()
def pid() -> str:
    """Say which process this is."""
    return str(os.getpid())


@server.tool()
def picture() -> Image:
    """Draw."""
    return Image(data=b"\x89PNG" * 100, format="png")


def serve_http() -> None:
    """Listen before the port is told, so that nobody comes too early."""
    import socket

    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    config = uvicorn.Config(server.streamable_http_app(), log_level="error")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    if "http" in sys.argv:
        serve_http()
    else:
        server.run("stdio")
