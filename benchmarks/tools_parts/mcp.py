"""What a call of an MCP tool over stdio takes here, and by the SDK alone.

The calls take turns, on one event loop, to two servers that are alike. Ours is the whole of it:
deadline, cuts, errors as results; the SDK's is `Client.call_tool`. `step` is a synchronous
`env.step` that makes one call.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import gem
from gem.env import wait_for
from gem.tools import ToolContext, answer
from gem_tools.mcp import McpTools

COMMAND = [sys.executable, "-I", str(Path(__file__).with_name("mcp_server.py"))]
ARGUMENTS = {"a": 1, "b": 2}
WARM_UP = 50


def measure(calls: int) -> dict[str, float]:
    """Return medians and 99th percentiles in milliseconds, and the median of the paired ratios."""
    toolset = McpTools(command=COMMAND)
    [tool] = toolset
    ours, theirs = wait_for(_in_turns(tool, calls))
    steps = _steps(tool, calls)
    wait_for(toolset.aclose())
    pairs = zip(ours, theirs, strict=True)
    return {
        "calls": calls,
        **_summary("tool", ours),
        **_summary("sdk", theirs),
        **_summary("step", steps),
        "tool_to_sdk": round(median(one / other for one, other in pairs), 3),
    }


async def _in_turns(tool: gem.Tool, calls: int) -> tuple[list[float], list[float]]:
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters

    ours = []
    theirs = []
    context = ToolContext(timeout_s=30.0)
    async with Client(StdioServerParameters(command=COMMAND[0], args=COMMAND[1:])) as client:
        for number in range(WARM_UP + calls):
            first = time.perf_counter()
            result = await answer(tool, ARGUMENTS, context)
            second = time.perf_counter()
            expected = await client.call_tool("add", ARGUMENTS)
            third = time.perf_counter()
            if result.content != "3" or expected.is_error:
                raise RuntimeError(f"A call failed: {result}, {expected}")
            if number >= WARM_UP:
                ours.append(second - first)
                theirs.append(third - second)
            if number % 100 == 0:
                gc.collect()
                await asyncio.sleep(0)
    return ours, theirs


def _steps(tool: gem.Tool, calls: int) -> list[float]:
    gem.register("demo:Guess", "gem.testing.envs:Guess", highest=31)
    layer: dict[str, Any] = {"id": "tools", "tools": [tool], "max_tool_uses": None}
    env = gem.make("demo:Guess", wrappers=[layer])
    env.reset(seed=0)
    action = gem.Action("", tool_calls=[gem.ToolCall("c1", tool.name, ARGUMENTS)])
    took = []
    for _ in range(calls):
        begin = time.perf_counter()
        env.step(action)
        took.append(time.perf_counter() - begin)
    return took


def _summary(name: str, took: list[float]) -> dict[str, float]:
    cuts = quantiles(took, n=100, method="inclusive")
    return {
        f"{name}_ms": round(median(took) * 1e3, 3),
        f"{name}_p99_ms": round(cuts[98] * 1e3, 3),
    }
