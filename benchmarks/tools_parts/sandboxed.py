"""The tool `python` of gem-tools in its default sandbox, as the wrapper calls it."""

from __future__ import annotations

import asyncio
import time

from benchmarks.execution_parts.side import serve

from gem.tools import ToolContext, answer
from gem_tools.python_tool import PythonTool


class Sandboxed:
    """The tool, on one event loop that stays."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._tool = PythonTool(program_timeout_s=60)

    def block(self, code: str, shown: str, warm: int, calls: int) -> list[float]:
        """Return how long calls took that follow each other at once, the first ones left out.

        The first ones take the jails that stood ready, so that none gains by an idle time before.
        """

        async def run() -> list[float]:
            return [await self._timed(code, shown) for _ in range(warm + calls)][warm:]

        return self._loop.run_until_complete(run())

    def after_rest(self, code: str, shown: str, rest_s: float, calls: int) -> list[float]:
        """Return how long calls took, each after an idle time."""

        async def run() -> list[float]:
            took = []
            for _ in range(calls):
                await asyncio.sleep(rest_s)
                took.append(await self._timed(code, shown))
            return took

        return self._loop.run_until_complete(run())

    def at_once(self, code: str, shown: str, calls: int, at_once: int) -> float:
        """Return how many seconds these calls took, so many at a time."""

        async def run() -> None:
            places = asyncio.Semaphore(at_once)

            async def one() -> None:
                async with places:
                    await self._timed(code, shown)

            await asyncio.gather(*(one() for _ in range(calls)))

        begin = time.perf_counter()
        self._loop.run_until_complete(run())
        return time.perf_counter() - begin

    async def _timed(self, code: str, shown: str) -> float:
        begin = time.perf_counter()
        result = await answer(self._tool, {"code": code}, ToolContext())
        took = time.perf_counter() - begin
        if result.content.strip() != shown:
            raise RuntimeError(f"the program should print {shown!r}, and: {result.content!r}")
        return took


if __name__ == "__main__":
    sandboxed = Sandboxed()
    serve(
        {
            "block": sandboxed.block,
            "after_rest": sandboxed.after_rest,
            "at_once": sandboxed.at_once,
        }
    )
