"""The tool `python`, as a wrapper calls it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import gem
from gem.content import ToolResult
from gem.errors import BadArguments, SnapshotError
from gem.tools import ToolContext, answer
from gem_tools.python_tool import PythonTool
from gem_tools.sandbox import SandboxUnavailable
from gem_tools.sandbox.bwrap import BwrapSandbox

from .processes import is_running, named, new_mark

LIMITS: dict[str, Any] = {"program_timeout_s": 60, "memory_mb": 256}


@pytest.fixture
def tool(sandbox: BwrapSandbox) -> PythonTool:
    return PythonTool(backend=sandbox, **LIMITS)


def call(tool: PythonTool, **arguments: Any) -> ToolResult:
    return asyncio.run(answer(tool, arguments, ToolContext(call_id="one")))


@pytest.fixture
def keeping(sandbox: BwrapSandbox) -> Iterator[PythonTool]:
    """Return a tool that keeps variables."""
    tool = PythonTool(backend=sandbox, **LIMITS, stateful=True)
    yield tool
    asyncio.run(tool.aclose())


def cells(tool: PythonTool, *codes: str, session: str = "one") -> list[ToolResult]:
    """Run these in an episode, one after the other."""
    return [
        asyncio.run(answer(tool, {"code": code}, ToolContext(session=session))) for code in codes
    ]


def contents(tool: PythonTool, *codes: str) -> list[str]:
    return [result.content for result in cells(tool, *codes)]


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


@pytest.mark.slow
def test_a_deadline_is_an_error_that_says_so(sandbox: BwrapSandbox) -> None:
    tool = PythonTool(backend=sandbox, program_timeout_s=2)

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


def test_variables_are_kept_and_last_values_shown(keeping: PythonTool) -> None:
    codes = ("import math\nx = 3", "math.factorial(x)", "_ + 1; print('no value'); None")

    assert contents(keeping, *codes) == ["", "6", "no value"]
    assert contents(keeping, "def f(n):\n    return n + x\n\nf(1)", "_ * 2") == ["4", "8"]


def test_each_episode_has_variables_of_its_own(keeping: PythonTool) -> None:
    cells(keeping, "x = 1", session="one")

    [result] = cells(keeping, "x", session="other")

    assert "NameError: name 'x' is not defined" in result.content


def test_a_cell_that_raises_keeps_the_variables(keeping: PythonTool) -> None:
    first, second, third = cells(
        keeping, "x = 1\nprint('a')\nx / 0", "import sys; sys.exit(3)", "x"
    )

    assert (first.is_error, first.meta["status"]) == (True, "error")
    assert first.content.startswith(
        'a\nTraceback (most recent call last):\n  File "cell 1", line 3'
    )
    assert "x / 0" in first.content
    assert "cells.py" not in first.content
    assert second.is_error
    assert (third.is_error, third.content) == (False, "1")


def test_a_cell_that_is_no_python_is_an_error_of_its_own(keeping: PythonTool) -> None:
    codes = ("x = (", "x = '\0'", "'\ud800' + '('\n(", "(" * 5000, "1")

    *bad, good = cells(keeping, *codes)

    assert all(result.is_error for result in bad)
    assert bad[0].content.startswith('  File "cell 1", line 1\n    x = (')
    assert "SyntaxError" in bad[0].content
    assert good.content == "1"


def test_what_programs_of_a_cell_write_is_shown_in_order(keeping: PythonTool) -> None:
    code = (
        "import subprocess\nprint('a', flush=True)\nsubprocess.run(['/bin/echo', 'b'])\nprint('c')"
    )

    assert contents(keeping, code)[0].startswith("a\nb\nc")


def test_a_long_output_is_cut_and_the_session_goes_on(keeping: PythonTool) -> None:
    long, after = contents(keeping, "x = 1\nprint('y' * 10**6)", "x")

    assert "cut here" in long
    assert len(long) < 9_000
    assert after == "1"


@pytest.mark.parametrize(
    "code",
    [
        "for _ in range(40): print('y' * 10**6)",
        "import sys\nfor _ in range(40): print('y' * 10**6, file=sys.stderr)",
        "import os\nfor _ in range(400): os.write(1, b'y' * 10**5)",
        "import subprocess\nsubprocess.run('yes y | head -c 40000000', shell=True)",
    ],
    ids=["stdout", "stderr", "descriptor", "child"],
)
def test_an_output_larger_than_the_disk_is_cut_and_the_cell_runs_on(
    keeping: PythonTool, code: str
) -> None:
    long, after = contents(keeping, f"x = 1\n{code}\nx = 2", "x")

    assert long.startswith("y")
    assert "cut here" in long
    assert after == "2"


FILL = "file = open('big', 'wb', 0)\nwhile True: file.write(b'x' * 10**5)"


def test_a_full_disk_is_an_error_with_its_traceback_and_variables_stay(
    keeping: PythonTool,
) -> None:
    full, value, printed = cells(keeping, f"x = 1\n{FILL}", "x", "print(x + 1)")

    assert full.is_error
    assert full.content.startswith("Traceback")
    assert full.content.endswith("OSError: [Errno 28] No space left on device")
    assert (value.content, printed.content) == ("1", "2")


def test_a_cell_may_catch_that_the_disk_is_full_and_print(keeping: PythonTool) -> None:
    catch = "try: open('big', 'wb').write(b'x' * 10**8)\nexcept OSError as error: print(error)"

    assert contents(keeping, catch) == ["[Errno 28] No space left on device"]


def test_a_cell_has_no_children_but_its_own(keeping: PythonTool) -> None:
    code = "import os\nif os.fork() == 0: os._exit(0)\nwhile True: os.wait()"

    assert contents(keeping, code)[0].endswith("No child processes")


def test_what_a_child_writes_after_its_cell_is_shown_with_the_next(keeping: PythonTool) -> None:
    start = (
        "import os\nreading, writing = os.pipe()\nif os.fork() == 0:\n"
        "    os.read(reading, 1)\n    os.write(1, b'late')\n    os._exit(0)"
    )

    assert contents(keeping, start, "os.write(writing, b'x')\nended = os.wait()", "1")[1:] == [
        "late",
        "1",
    ]


@pytest.mark.parametrize("code", ["os.close(1)", "os.close(1); os.close(2)", "os.closerange(0, 3)"])
def test_output_without_its_stream_is_an_error_that_says_so(keeping: PythonTool, code: str) -> None:
    _, lost, after = cells(keeping, f"import os; x = 1; {code}", "print(x)", "x = 2")

    assert lost.is_error
    assert "cannot be shown" in lost.content
    assert "variables" not in after.content


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nsys.excepthook = lambda *_: 1 / 0",
        "import sys\nsys.stderr = 3",
        "import sys\nsys.stderr.close()",
        "import traceback\ntraceback.print_exception = None",
    ],
)
def test_an_error_that_cannot_be_shown_as_usual_keeps_the_variables(
    keeping: PythonTool, code: str
) -> None:
    _, bad, after = cells(keeping, f"x = 1\n{code}", "{}['no']", "print(x)")

    assert bad.is_error
    assert "KeyError: 'no'" in bad.content
    assert after.content.startswith("1")


@pytest.mark.parametrize(
    ("code", "content"),
    [
        ("import sys; sys.exit(3)", "[the cell ended: exit status 3; variables are kept]"),
        ("raise SystemExit(1)", "[the cell ended: exit status 1; variables are kept]"),
        ("print('a'); quit(2)", "a\n[the cell ended: exit status 2; variables are kept]"),
        ("exit('why')", "why\n[the cell ended: exit status 1; variables are kept]"),
    ],
)
def test_a_cell_that_exits_says_with_which_status(
    keeping: PythonTool, code: str, content: str
) -> None:
    _, ended, after = cells(keeping, "x = 1", code, "x")

    assert (ended.is_error, ended.content, after.content) == (True, content, "1")


@pytest.mark.parametrize("code", ["import sys; sys.exit()", "exit(0)", "raise SystemExit"])
def test_a_cell_that_exits_well_is_no_error(keeping: PythonTool, code: str) -> None:
    [ended] = cells(keeping, code)

    assert (ended.is_error, ended.content) == (False, "")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            "import os\nfor _ in range(3): os.fork()\nx = b'x' * (60 << 20)\nwhile True: pass",
            "memory",
        ),
        ("import os; os._exit(0)", "exit status 0"),
        ("import os; os.kill(os.getpid(), 11)", "SIGSEGV"),
    ],
    ids=["memory", "exit", "signal"],
)
def test_a_session_that_ends_says_so_and_begins_afresh(
    keeping: PythonTool, code: str, why: str
) -> None:
    _, ended, after = cells(keeping, "x = 1", code, "print(6 * 7); x")

    assert ended.is_error
    assert why in ended.content
    assert "all variables are lost" in ended.content
    assert after.content.startswith("42\nTraceback")
    assert "NameError" in after.content


@pytest.mark.slow
def test_a_cell_that_never_ends_ends_its_session(sandbox: BwrapSandbox) -> None:
    tool = PythonTool(backend=sandbox, program_timeout_s=2, stateful=True)

    _, ended, after = cells(tool, "x = 1", "while True: pass", "x")
    asyncio.run(tool.aclose())

    assert "ran past its deadline; all variables are lost" in ended.content
    assert "NameError" in after.content


def test_a_fork_that_is_left_in_a_cell_answers_nothing(keeping: PythonTool) -> None:
    code = "import os\nif os.fork() == 0: print('child')\nelse: os.wait(); print('parent')"

    assert contents(keeping, code, "1") == ["child\nparent", "1"]


def test_a_fork_of_a_cell_writes_no_row_of_an_open_file_again(keeping: PythonTool) -> None:
    write = "import os\nfile = open('log', 'w')\nn = file.write('row')\nif os.fork(): n = os.wait()"

    assert contents(keeping, write, "file.close(); print(open('log').read())")[1] == "row"


def test_what_a_cell_keeps_in_variables_is_left_alone_after_it(keeping: PythonTool) -> None:
    full = (
        "import os\nfile = os.fdopen(os.pipe()[1], 'wb', 1 << 20)\nn = file.write(bytes(100_000))"
    )
    odd = (
        "class Odd:\n    asked = 0\n    @property\n    def __class__(self): Odd.asked += 1\n"
        "odd = Odd()"
    )

    assert contents(keeping, full, odd, "Odd.asked") == ["", "", "0"]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_cell_may_print_to_a_stream_that_it_has_replaced(
    keeping: PythonTool, stream: str
) -> None:
    replace = f"import io, sys\nfirst = sys.{stream}\nsys.{stream} = io.StringIO()"

    assert contents(keeping, f"{replace}\nn = first.write('a')") == ["a"]


def test_an_answer_that_a_cell_forges_harms_nobody_else(keeping: PythonTool) -> None:
    forged = "import os; os.write(3, b'\\0\\0\\0\\1x')"

    assert contents(keeping, forged, "1")[0] == ""
    assert cells(keeping, "2", session="other")[0].content == "2"


def test_calls_of_one_action_run_one_after_the_other(keeping: PythonTool) -> None:
    async def call_all() -> list[str]:
        codes = ["x = []", *[f"x.append({number}); len(x)" for number in range(5)]]
        calls = [answer(keeping, {"code": code}, ToolContext(session="one")) for code in codes]
        return [result.content for result in await asyncio.gather(*calls)]

    assert asyncio.run(call_all()) == ["", "1", "2", "3", "4", "5"]


@pytest.mark.usefixtures("sandbox")
def test_an_episode_that_is_over_frees_its_session() -> None:
    small = BwrapSandbox(max_sessions=1, standby=0, packages=())
    tool = PythonTool(backend=small, stateful=True)
    try:
        cells(tool, "x = 1", session="one")
        assert "1 are open" in cells(tool, "1", session="two")[0].content
        tool.end_session("one")
        assert cells(tool, "2", session="two")[0].content == "2"
    finally:
        small.close()


@pytest.mark.usefixtures("sandbox")
def test_a_session_that_is_idle_too_long_is_ended_and_the_next_call_told() -> None:
    small = BwrapSandbox(max_sessions=1, standby=0, packages=())
    tool = PythonTool(backend=small, stateful=True, idle_s=0.05)
    try:
        cells(tool, "x = 1", session="one")
        while cells(tool, "1", session="two")[0].is_error:
            pass  # one holds the only place
        while "1 are open" in (after := cells(tool, "x", session="one")[0].content):
            pass
    finally:
        small.close()

    assert "variables of earlier calls are lost: nothing was called for 0.05 s" in after
    assert "NameError" in after


def test_a_call_that_is_cancelled_ends_its_session(keeping: PythonTool) -> None:
    mark = new_mark()

    async def cancel() -> None:
        code = f"x = 2\n{named(mark)}\nimport time; time.sleep(60)"
        call = answer(keeping, {"code": code}, ToolContext(session="one"))
        called = asyncio.ensure_future(call)
        while not is_running(mark):
            await asyncio.sleep(0.01)
        called.cancel()
        with pytest.raises(asyncio.CancelledError):
            await called

    cells(keeping, "x = 1")
    asyncio.run(cancel())
    [after] = cells(keeping, "x")

    assert "are lost: the call before this one ended without an answer" in after.content


@pytest.mark.usefixtures("demo_guess")
def test_an_episode_with_variables_is_not_saved_or_forked(keeping: PythonTool) -> None:
    env = gem.make(
        "demo:Guess", wrappers=[{"id": "tools", "tools": [keeping], "format": "tags"}], seed=0
    )
    env.reset(seed=0)
    env.snapshot()

    step = env.step("<python>x = 1; x</python>")

    assert "1" in str(step.observation)
    for copy in (env.snapshot, env.fork):
        with pytest.raises(SnapshotError, match="'python'"):
            copy()
    env.close()
