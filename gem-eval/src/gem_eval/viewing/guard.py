"""What every request to the viewer passes: it only reads, and only from an address of this machine.

A page of another site could else have its own name lead to this machine, and read the runs.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.responses import PlainTextResponse

__all__ = ["HEADERS", "Guard"]

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Of every answer: nothing from elsewhere, nothing inline, in no frame, kept by nobody."""


class Guard:
    """Refuse what is no GET or HEAD, and a Host that is neither an address nor `host`."""

    def __init__(self, app: App, *, host: str) -> None:
        self._app = app
        self._names = {"localhost", host.casefold()}

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":  # the start and the end; there is nothing else to reach
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *given]}
            await send(message)

        await self._answer(scope)(scope, receive, send_guarded)

    def _answer(self, scope: Scope) -> App:
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        if not self._is_known(host):
            refusal = (
                f"This viewer was asked for as {host!r:.100}, and answers to an address or to the "
                "name after --host alone, or pages of other sites could read the runs. Ask for it "
                "by the address of its machine, or start it with --host and this name.\n"
            )
            return PlainTextResponse(refusal, 421)
        if scope["method"] not in ("GET", "HEAD"):
            refusal = "This viewer only shows runs.\n"
            return PlainTextResponse(refusal, 405, headers={"allow": "GET, HEAD"})
        return self._app

    def _is_known(self, host: str) -> bool:
        """Say whether a Host header is this machine's. An address is nobody's name."""
        name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
        if name.casefold() in self._names:
            return True
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True
