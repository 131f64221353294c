"""gem-llm's tool for Python, which runs each program as a process of its own without a sandbox."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.execution_parts.side import serve


class Reference:
    """The tool, as its users call it."""

    def __init__(self) -> None:
        from gem.tools.python_code_tool import (  # type: ignore[import-not-found]
            PythonCodeTool,  # gem-llm's: this module runs where its package is
        )

        self._tool: Any = PythonCodeTool(timeout=60)

    def block(self, code: str, shown: str, warm: int, calls: int) -> list[float]:
        """Return how long calls took that follow each other at once, the first ones left out."""
        return [self._timed(code, shown) for _ in range(warm + calls)][warm:]

    def at_once(self, code: str, shown: str, calls: int, at_once: int) -> float:
        """Return how many seconds these calls took, so many at a time."""
        begin = time.perf_counter()
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(lambda _: self._timed(code, shown), range(calls)))
        return time.perf_counter() - begin

    def _timed(self, code: str, shown: str) -> float:
        begin = time.perf_counter()
        answer = self._tool.execute_action(f"<python>{code}</python>")
        took = time.perf_counter() - begin
        if shown not in answer[2]:
            raise RuntimeError(f"the program should print {shown!r}, and: {answer[2][-300:]!r}")
        return took


if __name__ == "__main__":
    reference = Reference()
    serve({"block": reference.block, "at_once": reference.at_once})
