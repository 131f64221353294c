"""The tool `python`, as a wrapper calls it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gem.content import ToolResult
from gem.errors import BadArguments
from gem.tools import ToolContext, answer
from gem_tools.python_tool import PythonTool
from gem_tools.sandbox import SandboxUnavailable
from gem_tools.sandbox.bwrap import BwrapSandbox


@pytest.fixture
def tool(sandbox: BwrapSandbox) -> PythonTool:
    return PythonTool(backend=sandbox, program_timeout_s=2, memory_mb=256)


def call(tool: PythonTool, **arguments: Any) -> ToolResult:
    return asyncio.run(answer(tool, arguments, ToolContext(call_id="one")))


def test_the_answer_is_what_the_program_prints(tool: PythonTool) -> None:
    result = call(tool, code="print('a')\nprint('b')")

    assert (result.call_id, result.content, result.is_error) == ("one", "a\nb", False)
    assert (result.meta["status"], result.meta["exit_code"]) == ("ok", 0)


def test_an_exception_is_an_error_with_its_traceback(tool: PythonTool) -> None:
    result = call(tool, code="print('before')\n1 / 0")

    assert result.is_error
    assert result.content.startswith("before\nTraceback (most recent call last):")
    assert result.content.endswith(
        "ZeroDivisionError: division by zero\n[the program ended: exit status 1]"
    )


def test_a_deadline_is_an_error_that_says_so(tool: PythonTool) -> None:
    result = call(tool, code="print('early', flush=True)\nwhile True: pass")

    assert result.is_error
    assert result.content == "early\n[the program ended: ran past its deadline]"


def test_output_that_is_no_text_is_shown_as_far_as_it_is(tool: PythonTool) -> None:
    assert call(tool, code="import os; os.write(1, b'a\\xffb')").content == "a\ufffdb"


def test_long_output_is_cut_and_says_so(tool: PythonTool) -> None:
    result = call(tool, code="print('x' * 10**6)")

    assert len(result.content) < 9_000
    assert "cut here" in result.content
    assert result.is_error


def test_nothing_is_kept_from_call_to_call(tool: PythonTool) -> None:
    call(tool, code="x = 1")

    assert "NameError" in call(tool, code="print(x)").content


@pytest.mark.parametrize("arguments", [{}, {"code": 1}, {"code": "1", "x": 2}, {"x": ""}], ids=str)
def test_bad_arguments_are_an_error_of_one_sentence(
    tool: PythonTool, arguments: dict[str, Any]
) -> None:
    result = call(tool, **arguments)

    assert result.is_error
    assert "it takes 'code', a string" in result.content


def test_a_bad_limit_is_refused_before_any_call(sandbox: BwrapSandbox) -> None:
    with pytest.raises(BadArguments, match="timeout_s is 0"):
        PythonTool(backend=sandbox, program_timeout_s=0)


def test_a_machine_without_a_sandbox_refuses_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap"):
        PythonTool()
