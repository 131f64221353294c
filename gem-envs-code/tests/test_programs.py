"""Programs that read stdin and write to stdout, graded in real jails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from gem import Step

Solve = Callable[..., Step]

DOUBLE = {"inputs": ["1", "2", "3"], "outputs": ["2", "4", "6"]}
ONE = {"inputs": ["7\n"], "outputs": ["14\n"]}
OWN_STREAMS = """
import io, os, sys
class Fast(io.IOBase):
    def __init__(self, file):
        self.file = file.fileno()
        self.buffer = io.BytesIO()
        self.writable = "x" in file.mode or "r" not in file.mode
        self.write = self.buffer.write if self.writable else None
    def readline(self):
        return os.read(self.file, 100)
    def flush(self):
        if self.writable:
            os.write(self.file, self.buffer.getvalue())
            self.buffer.truncate(0)
            self.buffer.seek(0)
sys.stdin, sys.stdout = Fast(sys.stdin), Fast(sys.stdout)
sys.stdout.write(b"%d" % (2 * int(sys.stdin.readline())))
"""
HOLDS_BACK = """
import sys
class Late:
    def __init__(self):
        self.first = sys.stdout
        self.texts = []
    def write(self, text):
        self.texts.append(text)
    def flush(self):
        self.first.write("".join(self.texts))
        self.texts.clear()
sys.stdout = Late()
print(2 * int(input()))
"""


def verdicts(step: Step) -> list[str]:
    found: list[str] = step.info["tests"]
    return found


@pytest.mark.parametrize(
    "program",
    [
        "print(int(input()) * 2)",
        "import sys\nprint(int(sys.stdin.read()) * 2)\nsys.exit(0)",
        "import os\nos.write(1, b'%d' % (2 * int(os.read(0, os.fstat(0).st_size))))\nos._exit(0)",
        "if __name__ == '__main__':\n    print(int(open(0).read()) * 2)",
        "import threading\nn = int(input())\nthreading.Thread(target=lambda: print(n * 2)).start()",
        "import atexit\nn = int(input())\natexit.register(lambda: print(n * 2))",
        "import sys\nprint(int(input()) * 2)\nprint('a note', file=sys.stderr)",
        "from __future__ import annotations\nprint(2 * int(input()))\nraise SystemExit",
        "def main():\n    print(2 * int(input()))\nmain()\nexit()",
        "import io, sys\nfirst = sys.stdout\nsys.stdout = io.StringIO()\nprint(2 * int(input()))\n"
        "first.write(sys.stdout.getvalue())",
        "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.detach())\n"
        "print(2 * int(input()))",
        "import io, sys\nout = io.TextIOWrapper(sys.stdout.buffer)\n"
        "print(2 * int(input()), file=out)",
        "class Odd:\n    @property\n    def __class__(self): raise SystemExit\n"
        "odd = Odd()\nprint(2 * int(input()))",
        "import sys\nprint(2 * int(input()))\nsys.modules = None",
        "out = open(1, 'w')\nprint(2 * int(input()), file=out)",
        "class Odd:\n    @property\n    def __class__(self): raise SystemExit\n"
        "odd = Odd()\nout = open(1, 'w')\nprint(2 * int(input()), file=out)",
        HOLDS_BACK,
        OWN_STREAMS,
    ],
)
def test_a_right_program_passes_in_whatever_way_it_reads_writes_and_ends(
    solve: Solve, program: str
) -> None:
    step = solve(program, DOUBLE)

    assert (step.reward, step.info["success"], step.info["why"]) == (1.0, True, "")
    assert verdicts(step) == ["passed"] * 3
    assert step.terminated
    assert not step.info["shared_process"]


def test_streams_are_flushed_in_the_order_of_an_interpreter(solve: Solve) -> None:
    program = (
        "import sys\nfirst = sys.stdout\nsys.stdout = open(1, 'w', closefd=False)\n"
        "own = open(1, 'w', closefd=False)\nfirst.write('c')\nown.write('b ')\nprint('a')"
    )

    assert solve(program, {"inputs": [""], "outputs": ["a\nb c"]}).info["success"]


def test_the_first_failure_is_the_last_test_that_is_run(solve: Solve) -> None:
    step = solve("n = int(input())\nprint(n * 2 if n < 2 else 0)", DOUBLE)

    assert verdicts(step) == ["passed", "wrong", "not_run"]
    assert (step.reward, step.info["success"]) == (0.0, False)
    assert "Test 2 of 3 was not passed: wrong" in str(step.observation)


@pytest.mark.parametrize(
    ("program", "verdict", "why"),
    [
        ("print(15)", "wrong", "another output"),
        ("pass", "wrong", "another output"),
        ("1 / 0", "error", "ZeroDivisionError"),
        ("print(14", "error", "SyntaxError"),
        ("raise ValueError('\\ud800' * 10_000)", "error", "ValueError: "),
        ("print(14)\nexit(3)", "error", "exit status 3"),
        ("import sys\nsys.exit('bad')", "error", "bad"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "error", "signal 11"),
        ("data = []\nwhile True:\n    data.append(' ' * 1_000_000)", "memory", "memory"),
        ("while True:\n    print('14' * 1000)", "error", "wrote more than 65536 bytes"),
        ("print(14)\nprint(input())\nprint(input())", "error", "EOFError"),
        ("def f(n):\n    return f(n + 1)\nf(0)", "error", "RecursionError"),
    ],
)
def test_each_way_to_fail_has_its_verdict(
    solve: Solve, program: str, verdict: str, why: str
) -> None:
    step = solve(program, ONE, time_limit_s=30, memory_mb=128, max_output_bytes=1 << 16)

    assert verdicts(step) == [verdict]
    assert why in step.info["why"]
    assert step.reward == 0.0


@pytest.mark.parametrize(
    "program",
    ["while True:\n    pass", "import time\nprint(14, flush=True)\ntime.sleep(60)"],
    ids=["busy", "asleep"],
)
def test_a_program_that_never_ends_is_late(solve: Solve, program: str) -> None:
    step = solve(program, ONE, time_limit_s=0.5)

    assert (verdicts(step), step.reward) == (["timeout"], 0.0)
    assert "0.5 s" in step.info["why"]


def test_the_share_of_tests_passed_can_be_the_reward(solve: Solve) -> None:
    step = solve("n = int(input())\nprint(n * 2 if n != 2 else 1 / 0)", DOUBLE, partial=True)

    assert verdicts(step) == ["passed", "error", "passed"]
    assert step.reward == pytest.approx(2 / 3)
    assert step.info["reward_parts"] == {"tests": step.reward}
    assert not step.info["success"]


def test_what_is_no_python_passes_no_test_at_all(solve: Solve) -> None:
    step = solve("print(", {"inputs": ["", ""], "outputs": ["1", ""]}, partial=True)

    assert verdicts(step) == ["error", "error"]


def test_a_timeout_ends_even_what_pays_by_share(solve: Solve) -> None:
    program = "n = int(input())\nwhile n == 2:\n    pass\nprint(n * 2)"

    # Long enough for the first test to pass on a busy machine.
    step = solve(program, DOUBLE, partial=True, time_limit_s=3.0)

    assert verdicts(step) == ["passed", "timeout", "not_run"]


def test_what_the_kernel_ends_for_its_time_is_late_however_that_is_counted(solve: Solve) -> None:
    ended = "import os, signal; os.kill(os.getpid(), signal.SIGXCPU)"  # as the kernel does it
    program = f"n = int(input())\nif n == 2:\n    {ended}\nprint(n * 2)"

    assert verdicts(solve(program, DOUBLE, partial=True)) == ["passed", "timeout", "not_run"]


def test_only_the_first_tests_count_where_they_are_limited(solve: Solve) -> None:
    step = solve("print({'1': 2, '2': 4}[input()])", DOUBLE, max_tests=2)

    assert verdicts(step) == ["passed", "passed"]
    assert step.info["success"]


def test_long_inputs_and_outputs_arrive_whole(solve: Solve) -> None:
    text = " ".join(map(str, range(200_000)))

    step = solve("print(input())", {"inputs": [text], "outputs": [text]})

    assert step.info["success"]


def test_text_is_utf8_both_ways(solve: Solve) -> None:
    step = solve("print(input()[::-1])", {"inputs": ["añ\U0001f600"], "outputs": ["\U0001f600ña"]})

    assert step.info["success"]


def test_an_exact_comparison_is_the_rows_to_ask_for(solve: Solve) -> None:
    tests = {"inputs": [""], "outputs": ["1  2\n"]}

    assert solve("print('1 2')", tests).info["success"]
    assert not solve("print('1 2')", tests, comparison="exact").info["success"]
    assert solve("print('1  2')", tests, comparison="exact").info["success"]


def test_a_tolerance_is_the_rows_to_state(solve: Solve) -> None:
    tests = {"inputs": [""], "outputs": ["0.333333"]}

    assert not solve("print(0.33333)", tests).info["success"]
    assert solve("print(0.33333)", tests, tolerance=1e-4).info["success"]


CHECKER = """
def check(input, output, expected):
    a, b = map(int, output.split())
    return a + b == int(input) and a > 0 and b > 0
"""


@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        ("n = int(input())\nprint(1, n - 1)", "passed"),
        ("n = int(input())\nprint(n - 2, 2)", "passed"),
        ("n = int(input())\nprint(n, 0)", "wrong"),
        ("print('no')", "error"),
        ("1 / 0", "error"),
    ],
)
def test_a_checker_decides_where_many_answers_are_right(
    solve: Solve, program: str, verdict: str
) -> None:
    step = solve(program, {"inputs": ["9"], "outputs": ["1 8"]}, checker=CHECKER)

    assert verdicts(step) == [verdict]


@pytest.mark.parametrize(
    ("checker", "time_limit_s"),
    [
        ("def check(input, output, expected):\n    while True: pass", 0.5),
        ("1 / 0", 30),
        ("check = 3", 30),
        ("(", 30),
    ],
)
def test_a_checker_that_fails_passes_nothing(
    solve: Solve, checker: str, time_limit_s: float
) -> None:
    step = solve("print(14)", ONE, checker=checker, time_limit_s=time_limit_s)

    assert verdicts(step) == ["error"]
    assert step.info["why"]


@pytest.mark.parametrize(
    "verdict",
    [
        "(False, 'no')",
        "'no'",
        "[False]",
        "{'right': False}",
        "0.5",
        "2",
        "__import__('decimal').Decimal('0.5')",
        "__import__('fractions').Fraction(1, 2)",
        "0.5j",
        "(x for x in ())",
        "check",
    ],
)
def test_a_checker_that_does_not_say_true_or_false_passes_nothing(
    solve: Solve, verdict: str
) -> None:
    checker = f"def check(input, output, expected):\n    return {verdict}"

    step = solve("print(14)", ONE, checker=checker)

    assert verdicts(step) == ["error"]
    assert "must return True or False" in step.info["why"]


def test_a_checker_that_is_a_coroutine_function_passes_nothing(solve: Solve) -> None:
    checker = "async def check(input, output, expected):\n    return True"

    assert verdicts(solve("print(14)", ONE, checker=checker)) == ["error"]


@pytest.mark.parametrize(
    "verdict",
    ["1", "1.0", "__import__('fractions').Fraction(1)", "__import__('re').match('1', output)"],
)
def test_a_checker_may_say_yes_in_other_ways(solve: Solve, verdict: str) -> None:
    checker = f"def check(input, output, expected):\n    return {verdict}"

    assert verdicts(solve("print(14)", ONE, checker=checker)) == ["passed"]


@pytest.mark.parametrize("verdict", ["None", "0", "''", "()", "__import__('re').match('2', '')"])
def test_a_checker_may_say_no_in_other_ways(solve: Solve, verdict: str) -> None:
    checker = f"def check(input, output, expected):\n    return {verdict}"

    assert verdicts(solve("print(14)", ONE, checker=checker)) == ["wrong"]


def test_a_process_of_one_test_is_not_there_for_the_next(solve: Solve) -> None:
    program = """
import os, sys
import builtins
seen = sorted(os.listdir("."))
open("left", "w").close()
os.makedirs("folder/inner")
print(seen, hasattr(builtins, "left"))
builtins.left = 1
sys.modules["left"] = 1
"""
    outputs = ["[] False"] * 3

    step = solve(program, {"inputs": [""] * 3, "outputs": outputs})

    assert verdicts(step) == ["passed"] * 3


def test_numpy_is_there_where_it_is_installed(solve: Solve) -> None:
    pytest.importorskip("numpy", reason="numpy is not installed")

    step = solve("import numpy as np\nprint(np.array([int(input())]).sum() * 2)", DOUBLE)

    assert step.info["success"]


def test_many_environments_are_graded_at_once_on_one_loop(sandbox: None) -> None:
    from gem_envs_code.problem import CodeProblem

    rows = [{"question": f"{n}", "tests": {"inputs": [""], "outputs": [str(n)]}} for n in range(16)]

    async def graded(task: int) -> Step:
        env = CodeProblem(data=rows, time_limit_s=30)
        env.reset(task=task)
        return await env.astep(f"```python\nprint({task // 2 * 2})\n```")

    async def all_at_once() -> list[Step]:
        return await asyncio.gather(*map(graded, range(16)))

    steps = asyncio.run(all_at_once())

    assert [step.info["success"] for step in steps] == [True, False] * 8


def test_a_cancelled_step_leaves_no_program_behind(sandbox: None) -> None:
    from gem_envs_code.problem import CodeProblem

    env = CodeProblem(data=[{"question": "?", "tests": DOUBLE}])

    async def cancelled_then_graded() -> Step:
        for _ in range(4):  # more than are graded at once
            env.reset(task=0)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(env.astep("```python\nwhile 1: pass\n```"), 0.2)
        env.reset(task=0)
        return await env.astep("```python\nprint(2 * int(input()))\n```")

    assert asyncio.run(cancelled_then_graded()).info["success"]


def test_a_sandbox_that_cannot_hold_a_candidate_is_an_error_and_no_verdict(solve: Solve) -> None:
    from gem_tools.sandbox import SandboxError

    with pytest.raises(SandboxError):
        solve("print(1)", DOUBLE, sandbox_options={"max_open_files": 2})


def test_a_sandbox_may_be_of_another_kind(solve: Solve) -> None:
    with pytest.warns(match="no boundary"):
        step = _solved_in_process(solve, "print(int(input()) * 2)")

    assert verdicts(step) == ["passed"] * 3


def _solved_in_process(solve: Solve, program: str) -> Any:
    options: dict[str, Any] = {"max_open_files": 65}  # its own, so that it is made here
    return solve(program, DOUBLE, sandbox="process", sandbox_options=options)
