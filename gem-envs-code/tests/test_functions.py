"""Functions that are called with JSON values, and assertions that call them from another jail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gem import Step

Solve = Callable[..., Step]


def calls(*pairs: tuple[list[Any], Any]) -> dict[str, Any]:
    inputs, outputs = zip(*pairs, strict=True)
    return {"fn_name": "f", "inputs": list(inputs), "outputs": list(outputs)}


def verdicts(step: Step) -> list[str]:
    found: list[str] = step.info["tests"]
    return found


@pytest.mark.parametrize(
    ("program", "tests"),
    [
        ("def f(a, b): return a + b", calls(([1, 2], 3), ([0.5, 1], 1.5))),
        ("class Solution:\n    def f(self, a): return a * 2", calls(([2], 4), (["a"], "aa"))),
        ("def f(a): return tuple(a)", calls(([[1, 2]], [1, 2]))),
        ("def f(a): return {int(a): None}", calls((["1"], {"1": None}))),
        ("def f(a): return a + 1", calls(([1], [2]))),  # data sets may put a value into a list
        ("import sys\ndef f(a):\n    print('x' * 100)\n    return a", calls(([1], 1))),
        ("f = lambda a: a", calls(([[[]]], [[]]))),
        ("def f(a):\n    return 10 ** a", calls(([4000], 10**4000))),
    ],
)
def test_a_right_function_passes(solve: Solve, program: str, tests: Any) -> None:
    step = solve(program, tests)

    assert set(verdicts(step)) == {"passed"}, step.info


@pytest.mark.parametrize(
    ("program", "verdict", "why"),
    [
        ("def f(a): return a + 2", "wrong", "another value"),
        ("def f(a): pass", "wrong", "another value"),
        ("def f(a): return str(a + 1)", "wrong", "another value"),
        ("def f(a): return {a + 1}", "wrong", "no value that JSON has"),
        ("def f(a): return iter([a + 1])", "wrong", "no plain value"),
        ("def f(a): raise KeyError('k')", "error", "KeyError: 'k'"),
        ("def f(): return 2", "error", "TypeError"),
        ("def g(a): return 2", "error", "NameError: name 'f' is not defined"),
        ("f = 2", "error", "TypeError"),
        ("1 / 0", "error", "ZeroDivisionError"),
        ("def f(a): return ' ' * 10 ** 9", "memory", "memory"),
        ("def f(a): return ' ' * 10 ** 6", "error", "wrote more than"),
        ("import sys\ndef f(a): sys.exit(0)", "wrong", "no value"),
        ("import os\ndef f(a): os._exit(0)", "wrong", "no value"),
    ],
)
def test_each_way_to_fail_has_its_verdict(
    solve: Solve, program: str, verdict: str, why: str
) -> None:
    limits = {"time_limit_s": 30, "memory_mb": 128, "max_output_bytes": 1 << 16}

    step = solve(program, calls(([1], 2)), **limits)

    assert verdicts(step) == [verdict]
    assert why in step.info["why"]


NEVER_ENDS = "def f(*_):\n    while True: pass"


def test_a_function_that_never_returns_is_late(solve: Solve) -> None:
    step = solve(NEVER_ENDS, calls(([1], 2)), time_limit_s=0.5)

    assert verdicts(step) == ["timeout"]
    assert "0.5 s" in step.info["why"]


def test_arguments_are_new_for_each_test(solve: Solve) -> None:
    program = "seen = []\ndef f(a):\n    seen.append(a)\n    a.append(len(seen))\n    return a"

    assert solve(program, calls(([[]], [1]), ([[]], [1]))).info["success"]


def test_a_tolerance_holds_for_values(solve: Solve) -> None:
    tests = calls(([0.1, 0.2], 0.3))

    assert not solve("def f(a, b): return a + b", tests).info["success"]
    assert solve("def f(a, b): return a + b", tests, tolerance=1e-9).info["success"]


CHECK = """
def check(candidate):
    assert candidate(1) == 2
    for n in range(5):
        assert candidate(n) == n + helper(), "an error"
"""
GIVEN = 'def helper():\n    return 1\n\ndef f(n):\n    """Add one."""\n'


def test_a_check_may_use_what_was_given_and_so_may_the_program(solve: Solve) -> None:
    given = {"function": "f", "given": GIVEN}

    assert solve("def f(n):\n    return n + helper()", CHECK, **given).info["success"]
    assert verdicts(solve("def f(n): return 2", CHECK, **given)) == ["wrong"]
    assert verdicts(solve("pass", CHECK, **given)) == ["wrong"]


def test_a_program_cannot_change_what_its_tests_use(solve: Solve) -> None:
    program = "def helper(): return 0\ndef f(n): return 2 if n == 1 else n"

    assert verdicts(solve(program, CHECK, function="f", given=GIVEN)) == ["wrong"]


ASSERTIONS = ["assert f((1, 2)) == {1, 2}", "assert f(()) == set()", "assert f([3, 3]) == {3}"]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("f = set", ["passed", "passed", "passed"]),
        ("def f(a): return set(a) or None", ["passed", "wrong", "not_run"]),
        ("def f(a): return {*a, 1}.union() if a else {}[0]", ["passed", "error", "not_run"]),
        ("def f(a): return list(a)", ["wrong", "not_run", "not_run"]),
        ("def g(a): pass", ["error", "not_run", "not_run"]),
        ("def f(a): return ' ' * 10 ** 10", ["memory", "not_run", "not_run"]),
        ("def f(a): return f", ["wrong", "not_run", "not_run"]),
    ],
)
def test_assertions_are_each_a_test(solve: Solve, program: str, expected: list[str]) -> None:
    step = solve(program, ASSERTIONS, time_limit_s=30)

    assert verdicts(step) == expected
    assert not step.info["shared_process"]


@pytest.mark.parametrize(
    ("view", "test"),
    [
        ("keys", "assert list(f(GIVEN)) == ['b', 'zz', 'a']"),
        ("keys", "assert f(GIVEN) == {'a', 'b', 'zz'}"),
        ("values", "assert list(f(GIVEN)) == [1, 2, 1]"),
        ("items", "assert sorted(f(GIVEN)) == [('a', 1), ('b', 1), ('zz', 2)]"),
        ("items", "assert list(f(GIVEN.items())) == [('b', 1), ('zz', 2), ('a', 1)]"),
    ],
)
def test_a_function_may_return_a_view_of_a_dictionary(solve: Solve, view: str, test: str) -> None:
    given = "GIVEN = {'b': 1, 'zz': 2, 'a': 1}"

    right = solve(f"def f(d): return dict(d).{view}()", [test], given=given)
    wrong = solve(f"def f(d): return dict(list(dict(d).items())[:1]).{view}()", [test], given=given)

    assert (right.info["tests"], right.info["shared_process"]) == (["passed"], False)
    assert wrong.info["tests"] == ["wrong"]


def test_a_function_that_never_returns_ends_the_assertions(solve: Solve) -> None:
    step = solve(NEVER_ENDS, ASSERTIONS, time_limit_s=0.5)

    assert verdicts(step) == ["timeout", "not_run", "not_run"]
    assert not step.info["shared_process"]


def test_a_test_may_expect_an_error(solve: Solve) -> None:
    test = "try:\n    f(-1)\n    assert False\nexcept ValueError as error:\n    pass"

    assert solve("def f(n): raise ValueError('negative')", [test]).info["success"]
    assert solve("class Mine(ValueError): pass\ndef f(n): raise Mine", [test]).info["success"]
    assert not solve("def f(n): raise KeyError", [test]).info["success"]
    assert not solve("def f(n): return 1", [test]).info["success"]


def test_calls_of_one_test_share_its_time(solve: Solve) -> None:
    program = "def f(n): return sum(range(5_000_000))"

    step = solve(program, ["for n in range(50): f(n)"], time_limit_s=0.5)

    assert verdicts(step) == ["timeout"]


def test_a_name_that_the_tests_take_from_the_solutions_imports_is_there(solve: Solve) -> None:
    step = solve("def f(): return 4", ["assert f() == math.sqrt(16)"], solution="import math")

    assert step.info["success"]


def test_a_function_may_have_the_name_of_a_builtin(solve: Solve) -> None:
    tests = ["assert sum(2, 3) == 6"]

    step = solve("def sum(a, b): return a * b", tests, solution="def sum(a, b): ...")

    assert step.info["success"]


LAMBDAS = ["assert f(lambda n: n + 1, 1) == 2"]
CLASSES = ["assert f(Node(1)) == 1"]
NODE = "class Node:\n    def __init__(self, n): self.n = n\n\ndef f(node): return node.n"


@pytest.mark.parametrize(
    ("program", "tests", "solution"),
    [
        ("def f(g, n): return g(n)", LAMBDAS, ""),
        (NODE, CLASSES, NODE),
    ],
)
def test_what_cannot_cross_shares_a_process_and_says_so(
    solve: Solve, program: str, tests: list[str], solution: str
) -> None:
    step = solve(program, tests, solution=solution)

    assert step.info["success"]
    assert step.info["shared_process"]


@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        ("def f(g, n): return 3", "wrong"),
        ("def f(g, n): return h", "error"),
        ("import os\ndef f(g, n): os._exit(0)", "error"),
        ("import sys\ndef f(g, n): sys.exit(0)", "error"),
    ],
)
def test_tests_in_a_shared_process_can_fail_too(solve: Solve, program: str, verdict: str) -> None:
    assert verdicts(solve(program, LAMBDAS, time_limit_s=30)) == [verdict]


def test_tests_in_a_shared_process_have_a_time_limit(solve: Solve) -> None:
    assert verdicts(solve(NEVER_ENDS, LAMBDAS, time_limit_s=0.5)) == ["timeout"]


def test_a_program_cannot_bring_about_a_shared_process(solve: Solve) -> None:
    program = "class Liar:\n    def __eq__(self, other): return True\ndef f(a): return Liar()"

    step = solve(program, ASSERTIONS)

    assert verdicts(step)[0] == "wrong"
    assert not step.info["shared_process"]


def test_a_row_may_ask_for_a_shared_process(solve: Solve) -> None:
    program = "def f(a):\n    yield a"

    assert not solve(program, ["assert next(f(1)) == 1"]).info["success"]
    step = solve(program, ["assert next(f(1)) == 1"], shared_process=True)
    assert step.info["success"]
    assert step.info["shared_process"]


@pytest.mark.parametrize(
    ("solution", "test"),
    [
        ("def f(n):\n    yield from range(n)", "assert list(f(3)) == [0, 1, 2]"),
        ("def f(n):\n    for m in range(n):\n        yield m", "assert sum(f(3)) == 3"),
        ("async def f(n): return n", "import asyncio\nassert asyncio.run(f(3)) == 3"),
    ],
)
def test_a_generator_that_the_solution_is_shares_a_process(
    solve: Solve, solution: str, test: str
) -> None:
    step = solve(solution, [test], solution=solution)

    assert step.info["success"], step.info
    assert step.info["shared_process"]
    assert not solve("def f(n): return [n, n]", [test], solution=solution).info["success"]


@pytest.mark.parametrize(
    "solution",
    [
        "def f(n):\n    def g():\n        yield n\n    return list(g())",
        "def f(n):\n    g = lambda: (yield n)\n    return list(g())",
    ],
)
def test_a_generator_within_a_function_is_its_own_matter(solve: Solve, solution: str) -> None:
    step = solve(solution, ["assert f(3) == [3]"], solution=solution)

    assert not step.info["shared_process"]
    assert step.info["success"], step.info


ITERATORS = """
class Count:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def __next__(self):
        if self.n == 2:
            raise StopIteration
        self.n += 1
        return self.n
def f(): return Count()
def g():
    yield 1
    yield 2
def first(values): return next(iter(values))
"""


def test_a_program_may_use_the_end_of_an_iteration(solve: Solve) -> None:
    uses = f"{ITERATORS}\ndef sums(): return [sum(f()), sum(g()), next(iter([]), 0)]"
    ends = (
        "it = {}()\nassert [next(it), next(it)] == [1, 2]\ntry:\n    next(it)\n    assert False\n"
    )
    caught = "except StopIteration:\n    pass"
    direct = f"try:\n    first([])\n    assert False\n{caught}"

    assert solve(uses, ["assert sums() == [3, 3, 0]"]).info["success"]
    for test in (ends.format("f") + caught, ends.format("g") + caught, direct):
        assert solve(ITERATORS, [test], shared_process=True).info["success"]


@pytest.mark.parametrize(
    "test",
    [
        "from solution import f\nassert f(1) == 2",
        "from solution import f as g\nassert g(1) == 2",
        "from solution import *\nassert f(1) == 2",
        "import solution\nassert solution.f(1) == 2",
        "from solution import Solution\nassert Solution().f(1) == 2",
        "def test_f():\n    from solution import f\n    assert f(1) == 2\ntest_f()",
    ],
)
def test_a_test_may_import_the_program_as_solution(solve: Solve, test: str) -> None:
    program = "def f(n): return n + {0}\nclass Solution:\n    def f(self, n): return n + {0}"

    right = solve(program.format(1), [test])

    assert right.info["success"], right.info
    assert not right.info["shared_process"]
    assert solve(program.format(2), [test]).info["tests"] == ["wrong"]
    assert solve("pass", [test]).info["tests"] == ["error"]


@pytest.mark.parametrize("test", ["assert f", "assert f == 3", "assert not f != 3"])
@pytest.mark.parametrize("start", ["", "from solution import f\n"])
def test_a_name_that_is_no_function_is_looked_at_in_the_program(
    solve: Solve, start: str, test: str
) -> None:
    assert solve("f = 3", [start + test]).info["success"]
    assert not solve("f = 0", [start + test]).info["success"]
    assert not solve("pass", [start + test]).info["success"]


NAMES = (
    "LIMIT = {0}\nITEMS = [{0}, 2]\ndef f(a): return a\nf.calls = {0}\nclass Bad(ValueError): pass"
)


@pytest.mark.parametrize(
    "test",
    [
        "assert LIMIT >= 3",
        "assert 2 < LIMIT",
        "assert LIMIT + 1 == 4 and 1 + LIMIT == 4 and -LIMIT == -3",
        "assert int(LIMIT) == round(LIMIT) == 3",
        "assert len(ITEMS) == 2 and ITEMS[0] == 3",
        "assert 3 in ITEMS",
        "assert [item for item in ITEMS] == sorted(ITEMS)[::-1] == [3, 2]",
        "a, b = ITEMS\nassert a == 3",
        "assert ITEMS.index(3) == 0",
        "assert f.calls == 3",
        "assert not isinstance(3, Bad) and LIMIT == 3",
        "class Worse(Bad): pass\nassert Worse(3).args == (3,) and LIMIT == 3",
    ],
)
def test_what_a_test_does_with_a_name_is_done_in_the_program(solve: Solve, test: str) -> None:
    right = solve(NAMES.format(3), [test])

    assert right.info["success"], right.info
    assert right.info["shared_process"]
    assert not solve(NAMES.format(1), [test]).info["success"]
    assert not solve("def f(a): return a", [test]).info["success"]


SETS = """
step = 1
def f(a):
    f.calls += {0}
    return a
def g(): return {0} * step
class Solution:
    calls = 1
    def f(self): self.calls += {0}
    def g(self): return {0} * Solution.calls
"""


@pytest.mark.parametrize(
    "test",
    [
        "f.calls = 0\nf(1)\nf(1)\nassert f.calls == 6",
        "from solution import f\nf.calls = 2\nf(1)\nassert f.calls == 5",
        "s = Solution()\ns.calls = 0\ns.f()\nassert s.calls == 3",
        "Solution.calls = 2\nassert Solution().g() == 6",
        "import solution\nsolution.step = 2\nassert solution.g() == 6",
    ],
)
def test_an_attribute_that_a_test_sets_is_set_in_the_program(solve: Solve, test: str) -> None:
    right = solve(SETS.format(3), [test])

    assert right.info["success"], right.info
    assert right.info["shared_process"]
    assert not solve(SETS.format(2), [test]).info["success"]
    assert not solve("def f(a): return a", [test]).info["success"]


@pytest.mark.parametrize("message", ["f", "f'{f} failed'", "str(f)", "repr(f)"])
def test_the_message_of_an_assertion_moves_no_test_into_the_program(
    solve: Solve, message: str
) -> None:
    step = solve("def f(a): return a + 2", [f"assert f(1) == 2, {message}"])

    assert step.info["tests"] == ["wrong"]
    assert not step.info["shared_process"]


@pytest.mark.parametrize(
    "use",
    [
        "import functools\n@functools.lru_cache\ndef g(a): return f(a)\nassert g(1) == 2",
        "import functools\ng = functools.lru_cache(f)\nassert g(1) == 2",
        "import functools\ng = functools.wraps(f)(lambda a: f(a))\nassert g(1) == 2",
        "import functools\nassert functools.partial(f, 1)() == 2",
        "assert callable(f) and list(map(f, [1])) == [2]",
        "assert max([1, 2], key=f) == 2 and {f: 1}[f] == 1",
        "import unittest\nunittest.TestCase().assertEqual(f(1), 2)",
        "import asyncio\nassert not asyncio.iscoroutinefunction(f) and f(1) == 2",
        "import inspect\nassert not inspect.iscoroutinefunction(f) and f(1) == 2",
        "import asyncio\nassert asyncio.run(asyncio.to_thread(f, 1)) == 2",
        "import copy\nassert copy.copy(f)(1) == copy.deepcopy(f)(1) == 2",
        "import functools\nassert functools.wraps(len)(f)(1) == 2",
        "from unittest import mock\nassert mock.Mock(side_effect=f)(1) == 2",
    ],
)
def test_a_function_that_is_only_called_stays_apart(solve: Solve, use: str) -> None:
    step = solve("def f(a): return a + 1", [use])

    assert step.info["success"], step.info
    assert not step.info["shared_process"]
