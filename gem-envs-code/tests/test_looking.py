"""Which tests look into an object of the program's, and share its process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gem import Step

Solve = Callable[..., Step]


STACK = """
class Stack:
    def __init__(self): self.items = []
    def push(self, item): self.items.append(item)
    def pop(self): return self.items.pop()
"""
PAIR = "import collections\nPair = collections.namedtuple('Pair', 'first second')\n"


@pytest.mark.parametrize(
    ("program", "test"),
    [
        (STACK, "s = Stack()\ns.push(1)\nassert s.pop() == 1"),
        (STACK, "from solution import Stack\ns = Stack()\ns.push(1)\nassert s.pop() == 1"),
        (f"{PAIR}def f(a): return Pair(a, 2)", "assert f(1).first == 1"),
    ],
)
def test_an_object_that_a_test_looks_into_shares_its_process_without_a_solution(
    solve: Solve, program: str, test: str
) -> None:
    right = solve(program, [test])
    wrong = solve(program.replace("return ", "return 7, "), [test])

    assert (right.info["tests"], right.info["shared_process"]) == (["passed"], True)
    assert wrong.reward == 0.0


@pytest.mark.parametrize(
    ("test", "given"),
    [
        ("r = f(1)\nassert r.count(1) == 1", ""),
        ("class Own: item = 1\nr = f(1)\nr = Own()\nassert r.item == f(1)[0]", ""),
        ("import math\nr = math.e\nassert f(1) and r.real", ""),
        ("assert f(1)[0].real == 1", ""),
        ("s = Solution()\nassert s.f(1) == [1]", ""),
        ("node = f(1)\nassert node == [1] or node.next is None", "class Node: pass"),
    ],
)
def test_what_plain_values_have_too_shares_no_process(solve: Solve, test: str, given: str) -> None:
    program = "def f(a): return [a]\nclass Solution:\n    def f(self, a): return [a]"

    step = solve(program, [test], given=given)

    assert (step.info["tests"], step.info["shared_process"]) == (["passed"], False), step.info


ALWAYS_EQUAL = """
class Equal:
    def __eq__(self, other): return True
def f(text): return Equal()
"""
COUNTS = "assert f('aab') == Counter('aab').most_common(1)"


@pytest.mark.parametrize(
    ("row", "tests"),
    [
        ({"given": "from collections import *"}, [COUNTS]),
        ({}, [f"from collections import *\n{COUNTS}"]),
        (
            {},
            ["from collections import *", f"c = Counter('aab')\n{COUNTS}\nassert c.most_common()"],
        ),
        ({"given": "try:\n    from collections import *\nexcept ImportError: pass"}, [COUNTS]),
        ({"solution": "from collections import Counter\ndef f(text): pass"}, [COUNTS]),
    ],
)
def test_a_test_that_looks_into_what_is_not_the_programs_shares_no_process(
    solve: Solve, row: dict[str, str], tests: list[str]
) -> None:
    right = solve("def f(text): return [('a', 2)]", tests, **row)
    deceives = solve(ALWAYS_EQUAL, tests, **row)

    assert (right.info["tests"], right.info["shared_process"]) == (["passed"], False)
    assert (deceives.info["tests"], deceives.info["shared_process"]) == (["wrong"], False)


@pytest.mark.parametrize(
    ("row", "start"),
    [
        ({}, "from solution import *\n"),
        ({"given": "from collections import *", "function": "Stack"}, ""),
        ({"given": "from collections import *"}, "from solution import Stack\n"),
    ],
)
def test_an_object_of_the_programs_is_known_beside_an_import_of_all(
    solve: Solve, row: dict[str, str], start: str
) -> None:
    step = solve(STACK, [f"{start}s = Stack()\ns.push(1)\nassert s.pop() == 1"], **row)

    assert (step.info["tests"], step.info["shared_process"]) == (["passed"], True)
