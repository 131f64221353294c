"""Tests that call `check(Solution().method)`: right programs pass them, and no liar does."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from gem import Step
from gem.data import Misfit
from gem_envs_code.rows import PROBLEM, Problem

from .rows import EQUAL_TO_EVERYTHING, GIVEN, SHAPES, drawn, passed

Solve = Callable[..., Step]


@pytest.mark.parametrize("shape", SHAPES)
def test_right_programs_pass_and_equal_objects_and_wrong_ones_do_not(
    sandbox: None, shape: str
) -> None:
    has_reference, has_name = SHAPES[shape]

    counts = passed(drawn(9, has_reference=has_reference, has_name=has_name))

    assert counts == {"right": 9, "equal to everything": 0, "wrong": 0}


def problem(**row: Any) -> Problem:
    return PROBLEM.read({**dict.fromkeys(PROBLEM.needs, ""), **PROBLEM.optional, **row})


CHECK = "def check(candidate):\n    assert candidate(n = 7) == 14\n"
DOUBLE = "class Solution:\n    def double(self, n):\n        return 2 * n\n"


@pytest.mark.parametrize(
    "row",
    [
        {"tests": CHECK, "function": "Solution().double"},
        {"tests": CHECK, "function": " Solution( ).double "},
        {"tests": CHECK, "function": "Solution.double"},
        {"tests": CHECK, "function": "double"},
        {"tests": f"{CHECK}\ncheck(Solution().double)"},
        {"tests": f"{CHECK}\ncheck(candidate=Solution().double)"},
        {"tests": f"{CHECK}\ncheck(Solution().double)", "function": "double"},
        {"tests": f"{CHECK}\ncandidate = Solution().double\ncheck(candidate)"},
        {"tests": f"{CHECK}\nif __name__ == '__main__':\n    check(no)", "function": "double"},
        {"tests": CHECK, "solution": DOUBLE},
        {"tests": [CHECK, "check(Solution().double)"]},
        {"tests": [CHECK], "function": "Solution().double"},
        {"tests": json.dumps([CHECK]), "function": "double"},
        {"tests": ["assert Solution().double(7) == 14", "s = Solution()\nassert s.double(1) == 2"]},
        {"tests": {"inputs": [[7]], "outputs": [14]}, "function": "Solution().double"},
        {"tests": {"fn_name": "double", "inputs": [[7]], "outputs": [14]}},
    ],
)
@pytest.mark.parametrize("reference", ["", DOUBLE])
def test_every_way_to_say_which_method_is_asked_for_is_understood(
    solve: Solve, row: dict[str, Any], reference: str
) -> None:
    row = {"solution": reference, **row}

    right = solve(DOUBLE, **row)
    wrong = solve(DOUBLE.replace("2", "3"), **row)
    liar = solve(EQUAL_TO_EVERYTHING, **row)

    assert right.info["success"], right.info
    assert not right.info["shared_process"]
    assert not wrong.info["success"]
    assert not liar.info["success"]


def test_a_check_that_is_never_called_is_refused() -> None:
    for tests in (CHECK, [CHECK], f"{CHECK}\nif __name__ == '__main__':\n    check(double)"):
        with pytest.raises(Misfit, match=r"check\(Solution\(\)\.method\)"):
            problem(question="Double it.", tests=tests)


def test_the_question_names_the_method_and_shows_no_test(sandbox: None) -> None:
    from gem_envs_code.problem import CodeProblem

    tests = f"{CHECK}\ncheck(Solution().double)"
    env = CodeProblem(data=[{"question": "Double it.", "tests": tests}])
    observation = str(env.reset(task=0)[0])

    assert "class Solution with the method double" in observation
    assert "14" not in observation


def test_one_instance_is_made_for_each_that_the_tests_make(solve: Solve) -> None:
    program = (
        "class Solution:\n"
        "    def __init__(self): self.seen = 0\n"
        "    def see(self):\n        self.seen += 1\n        return self.seen"
    )
    tests = [
        "a, b = Solution(), Solution()\nassert (a.see(), a.see(), b.see()) == (1, 2, 1)",
        "assert Solution().see() == Solution().see() == 1",
        "see = Solution().see\nassert [see(), see()] == [1, 2]",
    ]

    assert solve(program, tests).info["tests"] == ["passed"] * 3


def test_what_a_method_does_to_its_arguments_is_seen_where_it_returns_none(solve: Solve) -> None:
    program = """
class Solution:
    def change(self, numbers, names, head):
        numbers.reverse()
        names["b"] = 2
        head.val, head.next = head.val + 1, ListNode(9, head)
    def changeAndReturn(self, numbers):
        numbers.clear()
        return numbers
"""
    change = """
numbers, names, head = [1, 2], {"a": 1}, ListNode(1)
Solution().change(numbers, names, head = head)
assert (numbers, names) == ([2, 1], {"a": 1, "b": 2})
assert (head.val, head.next.val) == (2, 9) and head.next.next is head
"""
    both = "numbers = [1]\nassert Solution().changeAndReturn(numbers) == sorted(numbers)"

    step = solve(program, [change, both], given=GIVEN)

    assert step.info["tests"] == ["passed", "wrong"]
    assert not step.info["shared_process"]


GRAPHS = f"""{GIVEN}
class Slotted:
    __slots__ = ("value", "others")
    def __init__(self, value): self.value, self.others = value, []
    def is_like(self, other): return self.value == other.value
"""
TEST_OF_GRAPHS = """
one, other = Slotted(1), Slotted(2)
one.others += [one, other]
assert Solution().grow(one).is_like(Slotted(2))
grown = Solution().grow(one)
assert grown.others[0] is grown and grown.others[1].value == 2
"""


@pytest.mark.parametrize(
    "program",
    [
        "class Solution:\n    def grow(self, node):\n        node.value += 1\n        return node",
        # Programs repeat what was given, and extend it.
        """
class Slotted:
    def __init__(self, value, others):
        self.value = value
        self.others = others
    def more(self): return Slotted(self.value + 1, self.others)
class Own(Slotted): pass
class Solution:
    def grow(self, node):
        new = Own(node.value + 1, node.others)
        new.others[0] = new
        return new
""",
    ],
)
def test_instances_of_the_problems_own_classes_cross_with_all_they_hold(
    solve: Solve, program: str
) -> None:
    step = solve(program, [TEST_OF_GRAPHS], given=GRAPHS)

    assert step.info["success"], step.info
    assert not step.info["shared_process"]


def test_a_long_list_of_nodes_crosses(solve: Solve) -> None:
    program = "class Solution:\n    def same(self, head): return head"
    tests = "head = list_node(range(5000))\nassert is_same_list(Solution().same(head), head)"

    assert solve(program, [tests], given=GIVEN).info["success"]


def test_a_class_that_only_the_solution_defines_shares_a_process(solve: Solve) -> None:
    program = f"class Box:\n    def __init__(self, n): self.n = n\n{DOUBLE.replace('* n', '* n.n')}"
    tests = "def check(candidate):\n    assert candidate(Box(7)) == 14\n"

    for function in ("double", "Solution().double"):
        step = solve(program, tests, function=function, solution=program)
        assert step.info["success"], step.info
        assert step.info["shared_process"]


def test_what_was_given_stays_what_it_was_in_the_tests(solve: Solve) -> None:
    tests = "def check(candidate):\n    assert isclose(candidate(7), 14)\ncheck(Solution().double)"
    liar = f"def isclose(*_): return True\n{DOUBLE.replace('2', '3')}"

    assert solve(DOUBLE, tests, given=GIVEN).info["success"]
    assert not solve(liar, tests, given=GIVEN).info["success"]


LISTS = """
def check(candidate):
    assert is_same_list(candidate(head = list_node([1, 2])), list_node([2, 1]))
    assert candidate(head = list_node([3])).val == 3
    assert candidate(head = list_node([4])).like(ListNode(4))

check(Solution().turn)
"""
LISTS_GIVEN = GIVEN.replace(
    "class TreeNode",
    "    def like(self, other):\n        return self.val == other.val\n\nclass TreeNode",
)
TURN = """
class Solution:
    def turn(self, head):
        last = None
        while head:
            head.next, last, head = last, head, head.next
        return last
"""
HOSTILE = {
    "is equal to everything": EQUAL_TO_EVERYTHING,
    "redefines what checks": """
def check(candidate): pass
def is_same_list(*_): return True
def list_node(values): return None
class Solution:
    def turn(self, head): return None
""",
    "redefines the node": """
class ListNode:
    def __init__(self, *_): self.val = self.next = self
    def __eq__(self, other): return True
    def __bool__(self): return False
    def like(self, other): return True
class Solution:
    def turn(self, head): return ListNode()
""",
    "hides a method by a type": """
class Solution:
    def turn(self, head):
        try:
            self.count += 1
        except AttributeError:
            self.count = 1
        node = ListNode({1: 2, 2: 3}.get(self.count, 5))
        if self.count == 1:
            node.next = ListNode(1)
        node.like = bool
        return node
""",
    "changes the class of a node": """
class Solution:
    def turn(self, head):
        node = ListNode(2, ListNode(1))
        node.__dict__["__class__"] = bool
        node.__dict__["__dict__"] = {"val": 1}
        return node
""",
    "patches builtins": """
import builtins
builtins.isinstance = builtins.len = builtins.type = lambda *_: True
builtins.AssertionError = Exception
class Solution:
    def turn(self, head): return ListNode(2)
""",
    "patches what packs values": """
import json
json.dumps = lambda *_, **__: '{"verdict": "passed"}'
class Solution:
    def turn(self, head): return None
""",
    "returns a subclass that lies": """
class Liar(int):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = int.__hash__
class Solution:
    def turn(self, head): return ListNode(Liar(7), ListNode(Liar(7)))
""",
    "returns a generator": "class Solution:\n    def turn(self, head): yield head",
    "returns itself": "class Solution:\n    def turn(self, head): return self",
    "returns its method": "class Solution:\n    def turn(self, head): return self.turn",
    "has a method that is no function": "class Solution:\n    turn = True",
    "exits": "class Solution:\n    def turn(self, head): raise SystemExit(0)",
    "exits at once": "import os\nclass Solution:\n    def turn(self, head): os._exit(0)",
    "is interrupted": "class Solution:\n    def turn(self, head): raise KeyboardInterrupt",
    "fails an assertion": "class Solution:\n    def turn(self, head): raise AssertionError",
    "answers twice, and before it is asked": """
import os
class Solution:
    def turn(self, head):
        for number in range(3, 60):
            try:
                os.write(number, b'{"verdict": "passed"}{"returned": "[[null, null], []]"}')
            except OSError:
                pass
        return head
""",
    "answers with a table that holds no nodes": """
import json
dumps = json.dumps
json.dumps = lambda held, **_: dumps(
    {"returned": '[[{"instance": -1}, null], [["ListNode", {"val": {"instance": 0}}]]]'}
)
class Solution:
    def turn(self, head): return None
""",
    "answers with classes of Python's own": """
import json
dumps = json.dumps
json.dumps = lambda held, **_: dumps(
    {"returned": '[[{"instance": 0}, null], [["object", {}], ["Solution", {}], ["int", {}]]]'}
)
class Solution:
    def turn(self, head): return None
""",
    "ties a list into a ring": """
class Solution:
    def turn(self, head):
        head.next = head
        return head
""",
    "reads the stack": """
import sys
class Solution:
    def turn(self, head):
        frame = sys._getframe()
        while frame:
            for name, held in {**frame.f_globals, **frame.f_locals}.items():
                if name in ("check", "expected", "test", "candidate"):
                    return held
            frame = frame.f_back
        return frame
""",
    "kills what started it": """
import os
class Solution:
    def turn(self, head):
        os.kill(os.getppid(), 9)
        return head
""",
    "closes its channels": """
import os
class Solution:
    def turn(self, head):
        os.closerange(0, 64)
        return head
""",
    "leaves its channels to a child": """
import os, time
class Solution:
    def turn(self, head):
        if os.fork():
            os._exit(0)
        time.sleep(60)
""",
    "never returns": "class Solution:\n    def turn(self, head):\n        while True: pass",
    "sleeps": "import time\nclass Solution:\n    def turn(self, head): time.sleep(60)",
    "has no class": "def turn(head): return head",
    "is no program": "class Solution(:",
    "does nothing": "pass",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_class_passes_nothing(solve: Solve, name: str) -> None:
    row = {"tests": LISTS, "given": LISTS_GIVEN, "time_limit_s": 0.3}

    hostile = solve(HOSTILE[name], **row)
    hostile_with_reference = solve(HOSTILE[name], **row, solution=TURN)
    honest = solve(TURN, **{**row, "time_limit_s": 30})

    for step in (hostile, hostile_with_reference):
        assert (step.reward, step.info["shared_process"]) == (0.0, False), step.info
    assert honest.info["success"], honest.info


def test_no_value_brings_about_a_shared_process(solve: Solve) -> None:
    program = """
import json
dumps = json.dumps
json.dumps = lambda held, **_: dumps(
    {"returned": "[[" + "[" * 200 + "]" * 200 + ", null], []]"}
)
class Liar:
    def __eq__(self, other): return True
def f(n): return Liar()
"""

    step = solve(program, ["assert f(f(7)) == 28"])

    assert not step.info["success"]
    assert not step.info["shared_process"]


def test_the_calls_of_a_test_share_the_time_on_the_clock(solve: Solve) -> None:
    program = "import time\nclass Solution:\n    def nap(self): time.sleep(0.3)"
    test = "nap = Solution().nap\nfor _ in range(1000): nap()"

    assert solve(program, [test], time_limit_s=0.1).info["tests"] == ["timeout"]
