"""Ask a problem's own checker about outputs, in a jail that no candidate is in."""

from __future__ import annotations

import json
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gem_envs_code.candidate import Limits
from gem_envs_code.jails import Options, open_jail
from gem_envs_code.outcome import Outcome

if TYPE_CHECKING:
    from gem_tools.sandbox import Session

__all__ = ["Checker"]

_MOST_REPLY = 1 << 16


class Checker:
    """A text that defines `check(input, output, expected)`, in a jail opened when first asked."""

    def __init__(self, text: str, limits: Limits, options: Options) -> None:
        self._text = text
        self._limits = limits
        self._options = options
        self._session: Session | None = None

    async def __aenter__(self) -> Checker:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.aclose()

    async def judge(self, input: str, output: str, expected: str) -> Outcome:  # noqa: A002
        """Return whether an output is right. One that the checker fails on is an error."""
        from gem_tools.sandbox import SessionEnded

        try:
            if self._session is None:
                self._session = await open_jail(
                    self._options, "checker", memory_mb=self._limits.memory_mb, program=self._text
                )
                await self._ask({"checker": self._text})
            reply = await self._ask({"input": input, "output": output, "expected": expected})
        except SessionEnded as ended:
            return Outcome("error", f"the checker {ended.result.summary}")
        if reply["right"]:
            return Outcome("passed")
        return Outcome("error" if "why" in reply else "wrong", reply.get("why", ""))

    async def _ask(self, message: dict[str, str]) -> dict[str, Any]:
        assert self._session is not None
        reply: dict[str, Any] = json.loads(
            await self._session.ask(
                json.dumps(message).encode("ascii"),
                timeout_s=self._limits.wall_s,
                max_reply_bytes=_MOST_REPLY,
            )
        )
        return reply
