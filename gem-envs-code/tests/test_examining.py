"""What runs before, between and after the assertions of a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gem import Step

Solve = Callable[..., Step]


def verdicts(step: Step) -> list[str]:
    found: list[str] = step.info["tests"]
    return found


@pytest.mark.parametrize("options", [{"partial": True}, {"max_tests": 1}])
def test_a_text_that_only_prepares_pays_a_wrong_program_nothing(
    solve: Solve, options: dict[str, Any]
) -> None:
    tests = ["import math", "assert f(4) == math.sqrt(4)", "assert f(9) == 3"]

    wrong = solve("def f(x): return None", tests, **options)
    right = solve("def f(x): return x ** 0.5", tests, **options)

    assert (wrong.reward, right.reward) == (0.0, 1.0)


def test_what_prepares_a_test_is_there_in_a_shared_process_too(solve: Solve) -> None:
    tests = [
        "def double(x): return 2 * x",
        "assert f(double, 1) == 2",
        "from math import sqrt",
        "assert f(double, f(sqrt, 9)) == 6",
    ]

    right = solve("def f(g, x): return g(x)", tests)
    wrong = solve("def f(g, x): return 2", tests)

    assert right.info["shared_process"]
    assert right.info["tests"] == ["passed", "passed"]
    assert wrong.reward == 0.0


@pytest.mark.parametrize("shared_process", [False, True])
def test_what_comes_after_the_last_test_runs_with_it_as_a_text_of_its_own(
    solve: Solve, shared_process: bool
) -> None:
    tests = ["assert f(1) == 1", "from __future__ import annotations\nkept: Unknown = f(2)"]

    def tested(program: str) -> list[str]:
        return verdicts(solve(program, tests, shared_process=shared_process))

    assert tested("def f(x): return x") == ["passed"]
    assert tested("def f(x): return 2") == ["wrong"]
    assert tested("def f(x): return 1 // (2 - x)") == ["error"]


EXPECTS_AN_ERROR = """
try:
    f({}, 'x')
except KeyError:
    pass
else:
    assert False
"""


@pytest.mark.parametrize(
    ("end", "verdict"), [("return object()", "wrong"), ("import os; os._exit(0)", "error")]
)
def test_a_test_is_no_answer_to_the_call_that_the_test_before_it_lost(
    solve: Solve, end: str, verdict: str
) -> None:
    tests = [
        "key = 'x'",
        EXPECTS_AN_ERROR,
        "assert f({key: 1}, key) == 1",
        EXPECTS_AN_ERROR,
        "assert f({key: 2}, key) == 2",
    ]

    never = solve(f"def f(d, k): {end}", tests, partial=True)
    sometimes = solve(f"def f(d, k):\n    if k in d: return d[k]\n    {end}", tests, partial=True)

    assert verdicts(never) == [verdict] * 4
    assert never.reward == 0.0
    assert verdicts(sometimes) == [verdict, "passed"] * 2
    assert sometimes.reward == 0.5


def test_a_test_that_its_jail_did_not_outlive_costs_the_next_one_nothing(solve: Solve) -> None:
    given = "import os\ndef ends(value): os._exit(value)"

    step = solve(
        "def f(x): return x", ["ends(f(1))", "assert f(2) == 2"], given=given, partial=True
    )

    assert verdicts(step) == ["error", "passed"]


@pytest.mark.parametrize("shared_process", [False, True])
def test_what_prepares_a_test_may_call_the_program(solve: Solve, shared_process: bool) -> None:
    tests = [
        "kept = []",
        "kept.append(f(1))",
        "assert kept == [1]",
        "kept.append(f(1))",
        "assert kept == [1, 2] and f(1) == 3",
        "assert kept == [1, 2] and f(1) == 3",
    ]
    counts = "calls = 0\ndef f(x):\n    global calls\n    calls += x\n    return calls"
    options = {"shared_process": shared_process, "partial": True}

    assert solve(counts, tests, **options).info["tests"] == ["passed"] * 3
    assert solve("def f(x): return x", tests, **options).info["tests"] == ["passed", *["wrong"] * 2]
    assert solve("def f(x): raise ValueError", tests, **options).info["tests"] == ["error"] * 3


def test_what_prepares_a_test_and_calls_nothing_runs_once(solve: Solve) -> None:
    tests = ["times = []", "times.append(1)", "assert f(len(times)) == 1", "times.append(1)"]

    step = solve("def f(x): return x", [*tests, "assert f(len(times)) == 2"])

    assert verdicts(step) == ["passed", "passed"]
