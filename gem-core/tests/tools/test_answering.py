from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest

import gem
from gem.tools import answer

C1 = gem.ToolContext("c1", timeout_s=30)


class Told(gem.Tool):
    """Answers with whatever it was made with, or raises it."""

    name = "told"

    def __init__(self, what: Any) -> None:
        self.what = what

    async def call(self, arguments: Mapping[str, Any], context: gem.ToolContext) -> gem.ToolResult:
        if isinstance(self.what, BaseException):
            raise self.what
        return self.what  # type: ignore[no-any-return]


def asked(tool: gem.Tool, context: gem.ToolContext = C1) -> gem.ToolResult:
    return asyncio.run(answer(tool, {}, context))


@pytest.mark.parametrize(
    ("what", "text"),
    [
        (ValueError("no\nsuch page"), "told failed: ValueError: no such page"),
        (SystemExit(3), "told failed: SystemExit: 3"),
        (asyncio.CancelledError(), "told failed: it was cancelled."),
        (None, "told failed: it answered NoneType, and no ToolResult of text."),
        (gem.ToolResult("c1", b"x"), "told failed: it answered ToolResult, and no"),  # type: ignore[arg-type]
    ],
)
def test_what_a_tool_does_wrong_is_an_answer(what: Any, text: str) -> None:
    found = asked(Told(what))

    assert (found.call_id, found.is_error, found.meta) == ("c1", True, {"error": "failed"})
    assert found.content.startswith(text)


def test_a_long_error_is_cut() -> None:
    assert len(asked(Told(ValueError("x" * 1_000_000))).content) < 2_100


def test_a_call_that_hangs_is_stopped_and_not_waited_for() -> None:
    freed = threading.Event()

    @gem.tool
    def hang() -> None:
        freed.wait(60)

    found = asked(hang, gem.ToolContext("c1", timeout_s=0.01))
    freed.set()

    assert (found.content, found.is_error) == ("hang was stopped after 0.01 s.", True)
    assert found.meta == {"error": "timeout"}


def test_a_late_coroutine_is_cancelled() -> None:
    ends = []

    @gem.tool
    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ends.append("cancelled")

    asked(hang, gem.ToolContext("c1", timeout_s=0.01))

    assert ends == ["cancelled"]


def test_cancelling_the_caller_cancels_the_call() -> None:
    began, ends = asyncio.Event(), []

    @gem.tool
    async def hang() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ends.append("cancelled")

    async def leave() -> None:
        task = asyncio.ensure_future(answer(hang, {}, C1))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())

    assert ends == ["cancelled"]


def test_a_long_answer_is_cut_and_says_so() -> None:
    told = Told(gem.ToolResult("", "x" * 30_000))

    found = asked(told)

    assert found.content == "x" * 20_000 + "\n[cut here: 10000 more characters]"
    assert found.meta == {"cut": 10_000}


def test_an_answer_can_be_written_anywhere() -> None:
    assert asked(Told(gem.ToolResult("", "a\ud800b"))).content == "a\ufffdb"


def test_an_error_says_that_it_is_one_as_a_bool() -> None:
    assert asked(Told(gem.ToolResult("", "no", 1))).is_error is True  # type: ignore[arg-type]
