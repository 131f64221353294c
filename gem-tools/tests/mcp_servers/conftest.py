"""What the tests of MCP share: real servers, and calls of their tools."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gem.content import ToolResult
from gem.env import wait_for
from gem.tools import Tool, ToolContext, answer
from gem_tools.mcp import McpTools

FOLDER = Path(__file__).parent
OWN = [sys.executable, str(FOLDER / "own_server.py")]
RAW = [sys.executable, str(FOLDER / "raw_server.py")]
PATIENT: dict[str, Any] = {"start_timeout_s": 120.0}


class Offered:
    """The tools of one server, and a plain way to call them."""

    def __init__(self, toolset: McpTools) -> None:
        self.toolset = toolset
        self.where: dict[str, Any] = {}
        self.tools: dict[str, Tool] = {tool.name: tool for tool in toolset}

    def call(self, name: str, *, timeout_s: float = 60.0, **arguments: Any) -> ToolResult:
        return wait_for(answer(self.tools[name], arguments, ToolContext(timeout_s=timeout_s)))

    def do(self, what: str, *, timeout_s: float = 60.0) -> ToolResult:
        """Ask the raw server for something."""
        return self.call("do", what=what, timeout_s=timeout_s)


Offers = Callable[..., Offered]


@pytest.fixture
def offers() -> Iterator[Offers]:
    """Return a function that connects to a server of its own; all end with the test."""
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    toolsets: list[McpTools] = []

    def connect(**options: Any) -> Offered:
        toolsets.append(McpTools(**{**PATIENT, **options}))
        return Offered(toolsets[-1])

    yield connect
    for toolset in toolsets:
        wait_for(toolset.aclose())


@pytest.fixture(scope="package", params=["stdio", "http"])
def own(request: pytest.FixtureRequest) -> Iterator[Offered]:
    """Return a server of ours, over each transport."""
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    over_http = request.param == "http"
    where = {"url": request.getfixturevalue("own_url")} if over_http else {"command": OWN}
    offered = Offered(McpTools(**PATIENT, **where))
    offered.where = {**PATIENT, **where}
    yield offered
    wait_for(offered.toolset.aclose())


@pytest.fixture
def raw(offers: Offers) -> Callable[..., Offered]:
    """Return a function that connects to the raw server, which behaves as it is told."""

    def connect(*how: str, **options: Any) -> Offered:
        return offers(command=[*RAW, *how], **options)

    return connect


@pytest.fixture(scope="package")
def own_url() -> Iterator[str]:
    """Return where a server of ours listens."""
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    process = subprocess.Popen([*OWN, "http"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
    process.kill()
    process.communicate()
