"""Where a server is, as frozen data, and the transport that leads there."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

from gem.errors import BadArguments

__all__ = ["Link"]

_Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A server: a command that is run, or the address of one that runs elsewhere.

    `secrets` are the variables of a command's environment, or the headers of an address. Equal
    links share one server.
    """

    command: tuple[str, ...] = ()
    url: str = ""
    secrets: _Pairs = ()
    cwd: str | None = None
    start_timeout_s: float = 30.0

    def __str__(self) -> str:
        target = self.url.partition("?")[0] or shlex.join(self.command)
        return target if len(target) <= 200 else f"{target[:200]}..."

    def transport(self) -> Any:
        """Return what the SDK reads and writes through. Raises BadArguments on bad secrets."""
        filled = dict(_filled(*pair) for pair in self.secrets)
        if self.url:
            from gem_tools.mcp.http import HttpTransport

            return HttpTransport(self.url, filled)
        from gem_tools.mcp.process import ProcessTransport

        path = {"PATH": os.environ.get("PATH", os.defpath)}
        return ProcessTransport(self.command, env={**path, **filled}, cwd=self.cwd)

    @classmethod
    def to(
        cls,
        command: Sequence[str] | None,
        url: str | None,
        *,
        env: Mapping[str, str] | None,
        headers: Mapping[str, str] | None,
        cwd: str | None,
        start_timeout_s: float,
    ) -> Link:
        """Check what a user gave. Raises BadArguments."""
        if isinstance(command, str) or (command is not None and not command):
            raise _bad(f"was given the command {command!r:.80}. Write it as a list of words")
        if command is None and url is None:
            raise _bad("needs either the 'command' that starts its server, or its 'url'")
        if command is not None and url is not None:
            raise _bad("was given both 'command' and 'url', each a server. Leave one out")
        if url is not None and (env or cwd):
            raise _bad("was given 'url' with 'env' or 'cwd', which a command takes. Leave it out")
        if url is None and headers:
            raise _bad("was given 'command' with 'headers', which an address takes. Use 'env'")
        if url is not None and not url.startswith(("http://", "https://")):
            raise _bad(
                f"was given the address {url!r:.80}. Write it like http://127.0.0.1:8000/mcp"
            )
        secrets = tuple(sorted({**(env or {}), **(headers or {})}.items()))
        return cls(tuple(command or ()), url or "", secrets, cwd, start_timeout_s)


def _filled(name: str, value: str) -> tuple[str, str]:
    """Put variables of this process in: a record of the arguments then holds no secret."""
    try:
        return name, Template(value).substitute(os.environ)
    except (KeyError, ValueError) as error:
        raise _bad(
            f"was given {name} as {value!r:.80}, and {error} is no environment variable here. "
            "Set it, or write $$ for a dollar"
        ) from error


def _bad(what: str) -> BadArguments:
    return BadArguments(f"The tool 'mcp' {what}.", subject="mcp")
