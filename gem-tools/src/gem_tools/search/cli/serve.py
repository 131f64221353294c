"""`gem-env serve-search`: an index over HTTP, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
import ipaddress
import socket
import sys

from gem.errors import BadArguments
from gem.registry import check_requirements
from gem_tools.search.hits import check_search
from gem_tools.search.opening import open_index

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Serve what the options say and return the exit status."""
    needed = ["starlette>=0.40", "uvicorn>=0.30"]
    check_requirements(needed, subject="gem-env serve-search", of="gem-tools")
    from gem_tools.search.server import search_app
    from gem_tools.search.serving import serve

    check_search([], options.topk)
    index = open_index(options.index)
    try:
        with _listening(options.host, options.port) as listener:
            print(
                f"Serving {index.manifest.documents:,} documents at {_address(listener)}/retrieve. "
                "Ctrl-C ends it.",
                flush=True,
            )
            serve(search_app(index, k=options.topk), listener)
    finally:
        index.close()
    return 0


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server((address[0], port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        raise BadArguments(
            f"gem-env serve-search cannot listen at {host} port {port} ({error}). Name another "
            "--port, or --port 0 for one that is free.",
            subject="serve-search",
        ) from error
    if not ipaddress.ip_address(listener.getsockname()[0]).is_loopback:
        print(
            f"gem-env serve-search: {host} can be reached from other machines, and anybody there "
            "may search.",
            file=sys.stderr,
        )
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
