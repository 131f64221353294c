"""Servers that die, hang or are no longer wanted: calls fail one by one, and nothing is left."""

from __future__ import annotations

import asyncio
import gc
import os
import select
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pytest

from gem.content import ToolResult
from gem.env import wait_for
from gem.tools import ToolContext, answer
from gem_tools.mcp import McpTools

from .conftest import RAW, Offered

pytestmark = pytest.mark.slow

Raw = Callable[..., Offered]


class Watched:
    """A process that somebody else has started, named by its number in a result."""

    def __init__(self, pid: str) -> None:
        self._handle = os.pidfd_open(int(pid))

    def has_ended(self) -> bool:
        """Wait until it has; say whether it has in 30 s."""
        ended, _, _ = select.select([self._handle], [], [], 30)
        os.close(self._handle)
        return bool(ended)


def test_a_server_that_is_killed_fails_the_calls_under_way_and_is_started_again(raw: Raw) -> None:
    server = raw()
    before = server.do("pid").content

    async def killed() -> list[str]:
        def ask(what: str) -> Awaitable[ToolResult]:
            return answer(server.tools["do"], {"what": what}, ToolContext(timeout_s=30.0))

        calls = [asyncio.ensure_future(ask("hang")) for _ in range(3)]
        while (await ask("how many hang")).content != "3":  # calls are heard in any order
            await asyncio.sleep(0.01)
        os.kill(int(before), signal.SIGKILL)
        return [result.content for result in await asyncio.gather(*calls)]

    failed = asyncio.run(killed())

    assert ["ended during the call" in text for text in failed] == [True] * 3
    assert server.do("pid").content not in {before, ""}


def test_a_server_that_stops_reading_is_started_again(raw: Raw) -> None:
    server = raw()
    deaf = server.do("deaf")

    answered = [server.do("text").content for _ in range(2)]

    assert deaf.content == "I am deaf."
    assert "stopped reading" in answered[0] or answered[0] == "done"  # it may be noticed before
    assert answered[1] == "done"


def test_a_server_that_keeps_dying_is_given_up_for_a_while(raw: Raw) -> None:
    server = raw()

    deaths = [server.do("die").content for _ in range(6)]

    assert ["ended during the call" in text for text in deaths] == [True] * 5 + [False]
    assert "was connected to 5 times within a minute" in deaths[-1]


@pytest.mark.slow
def test_a_server_that_answers_nothing_any_more_is_started_again(raw: Raw) -> None:
    server = raw()
    before = server.do("pid").content
    frozen = Watched(before)

    assert server.do("freeze", timeout_s=0.5).meta["error"] == "timeout"

    assert frozen.has_ended()
    assert server.do("pid").content != before


def test_closing_ends_a_server_and_what_it_started(raw: Raw) -> None:
    server = raw("stubborn")
    processes = [Watched(server.do(what).content) for what in ("pid", "child")]

    wait_for(server.toolset.aclose())

    assert all(process.has_ended() for process in processes)
    assert server.do("text").content == "done"  # a later call begins anew


@pytest.mark.parametrize("how", ["well-behaved", "stubborn"])
def test_closing_ends_what_a_server_started_in_other_sessions(raw: Raw, how: str) -> None:
    server = raw(how)
    started = ("child of its own session", "grandchild of its own session")
    processes = [Watched(server.do(what).content) for what in ("pid", *started)]
    other = subprocess.Popen([*RAW], stdin=subprocess.PIPE, start_new_session=True)

    wait_for(server.toolset.aclose())

    assert all(process.has_ended() for process in processes)
    assert other.poll() is None  # it is none of the server's
    other.communicate()


def test_a_server_that_nobody_holds_any_more_is_ended() -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    server = Offered(McpTools(command=[*RAW, "forgotten"]))
    process = Watched(server.do("pid").content)

    del server
    gc.collect()

    assert process.has_ended()


USE = """
import os, sys
from gem_tools.choosing import as_tools
from gem.env import wait_for
from gem.tools import ToolContext, answer

def pid():
    [tool] = as_tools({"id": "mcp", "command": sys.argv[1:]})
    return wait_for(answer(tool, {"what": "pid"}, ToolContext(timeout_s=30))).content

print(pid(), flush=True)
sys.stdin.readline()
"""

ENDS = {
    "by an error": ("1 / 0", "stubborn"),
    "by a signal": ("os.kill(os.getpid(), 9)", "stubborn"),
}


def using(how: str, last: str) -> subprocess.Popen[str]:
    """Start a process that uses a server, tells its number, and goes on when it is told to."""
    return subprocess.Popen(
        [sys.executable, "-c", USE + last, *RAW, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
def test_an_interpreter_leaves_no_server_behind(end: str) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    last, how = ENDS[end]
    user = using(how, last)
    assert user.stdout is not None
    process = Watched(user.stdout.readline())

    _, said = user.communicate("\n", timeout=60)

    assert process.has_ended()
    assert "Task" not in said
    assert ("ZeroDivisionError" in said) == (end == "by an error")


@pytest.mark.slow
def test_a_fork_has_a_server_of_its_own() -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    user = using(
        "stubborn", "child = os.fork()\nif child: os.waitpid(child, 0)\nprint(pid(), flush=True)"
    )
    assert user.stdout is not None
    first = user.stdout.readline()
    process = Watched(first)

    said, _ = user.communicate("\n", timeout=60)
    in_fork, after_fork = said.splitlines(keepends=True)

    assert in_fork != first == after_fork
    assert process.has_ended()
