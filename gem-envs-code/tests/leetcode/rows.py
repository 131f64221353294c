"""Rows in LeetCode's form, drawn from a seed: of each kind of problem that the form is used for.

A row is drawn in one of four shapes: with a reference program or without, and with the name of
the function or without. `python gem-envs-code/tests/leetcode/rows.py [ROWS]` grades a right
program, an object that is equal to everything, and a wrong program on so many rows of each shape,
200 where it is not said, and prints how many passed.
"""

# ruff: noqa: T201 - run by itself, it prints a table

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

GIVEN = """\
from typing import *
from collections import *
from heapq import *
from math import *

inf = float("inf")

class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next

class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val = val
        self.left = left
        self.right = right

def list_node(values):
    head = None
    for value in reversed(values):
        head = ListNode(value, head)
    return head

def is_same_list(one, other):
    while one and other and one.val == other.val:
        one, other = one.next, other.next
    return not one and not other

def tree_node(values):
    if not values:
        return None
    values = deque(values)
    root = TreeNode(values.popleft())
    waiting = deque([root])
    while values:
        node = waiting.popleft()
        for side in ("left", "right"):
            value = values.popleft() if values else None
            if value is not None:
                setattr(node, side, TreeNode(value))
                waiting.append(getattr(node, side))
    return root

def is_same_tree(one, other):
    if not one or not other:
        return one is other
    return (
        one.val == other.val
        and is_same_tree(one.left, other.left)
        and is_same_tree(one.right, other.right)
    )
"""

EQUAL_TO_EVERYTHING = """\
class Same:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __getattr__(self, name): return self
    def __bool__(self): return True
    def __len__(self): return 1
    def __iter__(self): return iter([self])
    def __float__(self): return 1.0
    def __hash__(self): return 0
class Solution:
    def __getattr__(self, name): return lambda *_, **__: Same()
"""


class Problem(NamedTuple):
    """A method, the body of a right one and of a wrong one, and the body of `check`."""

    method: str
    parameters: str
    right: str
    wrong: str
    checks: list[str]


def _shifted(rng: random.Random) -> Problem:
    shift = rng.randrange(1, 1000)
    lists = [[rng.randrange(-99, 99) for _ in range(rng.randrange(1, 8))] for _ in range(4)]
    return Problem(
        "shiftAll",
        "self, nums: List[int], k: int) -> List[int]",
        f"return [each + k + {shift} for each in nums]",
        f"return [each + k - {shift} for each in nums]",
        [
            f"assert candidate(nums = {nums}, k = {k}) == {[number + k + shift for number in nums]}"
            for k, nums in enumerate(lists)
        ],
    )


def _counted(rng: random.Random) -> Problem:
    texts = ["".join(rng.choices("abc", k=rng.randrange(1, 20))) for _ in range(4)]
    most = rng.randrange(2, 9)
    return Problem(
        "countLetters",
        "self, text: str) -> Dict[str, int]",
        f"return {{letter: min(count, {most}) for letter, count in Counter(text).items()}}",
        f"return {{letter: {most} + count for letter, count in Counter(text).items()}}",
        [
            f"assert candidate(text = {text!r}) == "
            f"{ {letter: min(text.count(letter), most) for letter in sorted(set(text))} }"
            for text in texts
        ],
    )


def _divisible(rng: random.Random) -> Problem:
    divisor = rng.randrange(2, 9)
    numbers = [divisor * rng.randrange(1, 99) + rng.randrange(2) for _ in range(4)]
    numbers += [divisor, divisor + 1]
    return Problem(
        "isDivisible",
        "self, n: int) -> bool",
        f"return n % {divisor} == 0",
        f"return n % {divisor} != 0",
        [f"assert candidate({n}) == {n % divisor == 0}" for n in numbers],
    )


def _halved(rng: random.Random) -> Problem:
    numbers = [rng.randrange(1, 10**6) for _ in range(3)]
    return Problem(
        "half",
        "self, n: int) -> float",
        "return n / 2",
        "return n // 2 + 0.25",
        [f"assert abs(candidate(n = {n}) - {n / 2}) < 1e-5" for n in numbers],
    )


def _merged(rng: random.Random) -> Problem:
    """Draw a problem of which the method has the name of a function that was imported."""
    pairs = [[sorted(rng.sample(range(99), 3)) for _ in range(2)] for _ in range(3)]
    return Problem(
        "merge",
        "self, one: List[int], other: List[int]) -> List[int]",
        "return sorted(one + other)",
        "return one + other + [0]",
        [f"assert candidate({one}, {other}) == {sorted(one + other)}" for one, other in pairs],
    )


def _reversed_list(rng: random.Random) -> Problem:
    lists = [[rng.randrange(99) for _ in range(rng.randrange(2, 30))] for _ in range(3)]
    return Problem(
        "reverseList",
        "self, head: Optional[ListNode]) -> Optional[ListNode]",
        "last = None\n"
        "        while head:\n"
        "            head.next, last, head = last, head, head.next\n"
        "        return last",
        "return ListNode(head.val + 1, head.next)",
        [
            f"assert is_same_list(candidate(head = list_node({values})), list_node({values[::-1]}))"
            for values in lists
        ],
    )


def _grown_tree(rng: random.Random) -> Problem:
    more = rng.randrange(1, 99)
    trees = [[rng.randrange(99), *(rng.choice([None, 3, 5]) for _ in range(2))] for _ in range(3)]
    return Problem(
        "growTree",
        "self, root: Optional[TreeNode]) -> Optional[TreeNode]",
        "if root is None:\n"
        "            return None\n"
        f"        return TreeNode(root.val + {more}, self.growTree(root.left), "
        "self.growTree(root.right))",
        "return root",
        [
            f"assert is_same_tree(candidate(root = tree_node({tree})), "
            f"tree_node({[None if node is None else node + more for node in tree]}))"
            for tree in trees
        ],
    )


def _rotated_in_place(rng: random.Random) -> Problem:
    nums = [rng.randrange(99) for _ in range(7)]
    k = rng.randrange(1, 7)
    return Problem(
        "rotate",
        "self, nums: List[int], k: int) -> None",
        "nums[:] = nums[-k:] + nums[:-k]",
        "nums[:] = nums[k:] + nums[:k] + [0]",
        [f"nums = {nums}", f"candidate(nums, {k})", f"assert nums == {nums[-k:] + nums[:-k]}"],
    )


def _remembered(rng: random.Random) -> Problem:
    """Draw a problem of which the instance remembers what it was asked before."""
    steps = [rng.randrange(1, 99) for _ in range(4)]
    return Problem(
        "runningTotal",
        "self, step: int) -> int",
        "self.total = getattr(self, 'total', 0) + step\n        return self.total",
        "return step",
        [
            f"assert candidate(step = {step}) == {sum(steps[: at + 1])}"
            for at, step in enumerate(steps)
        ],
    )


KINDS: tuple[Callable[[random.Random], Problem], ...] = (
    *(_shifted, _counted, _divisible, _halved, _merged),
    *(_reversed_list, _grown_tree, _rotated_in_place, _remembered),
)

SHAPES = {
    f"{reference} a reference, {name} a name": (reference == "with", name == "with")
    for reference in ("with", "without")
    for name in ("with", "without")
}


class Row(NamedTuple):
    """The fields of a row, and programs that are to pass and to fail it."""

    fields: dict[str, Any]
    right: str
    wrong: str


def drawn(count: int, *, has_reference: bool, has_name: bool, seed: int = 0) -> list[Row]:
    """Return so many rows of one shape."""
    rng = random.Random(seed)
    return [
        _row(KINDS[number % len(KINDS)](rng), rng, has_reference=has_reference, has_name=has_name)
        for number in range(count)
    ]


def _row(problem: Problem, rng: random.Random, *, has_reference: bool, has_name: bool) -> Row:
    tests = "\n    ".join(["def check(candidate):", *problem.checks])
    entry = f"Solution().{problem.method}"
    # The call stands at the end of the tests, or is left to the name, or both are there.
    if not has_name or rng.random() < 0.5:
        tests += f"\n\ncheck({entry})"
    right, wrong = (_program(problem, body) for body in (problem.right, problem.wrong))
    fields = {
        "question": f"Write {problem.method}.",
        "tests": f"{tests}\n",
        "given": GIVEN,
        "solution": right if has_reference else "",
        "function": rng.choice((entry, problem.method)) if has_name else "",
    }
    return Row(fields, right, wrong)


def _program(problem: Problem, body: str) -> str:
    return f"class Solution:\n    def {problem.method}({problem.parameters}:\n        {body}\n"


def passed(rows: list[Row]) -> dict[str, int]:
    """Return how many rows the right program, the equal object and the wrong program pass.

    A row on which a right program shared a process counts as not passed.
    """
    from gem_envs_code.problem import CodeProblem

    env = CodeProblem(data=[row.fields for row in rows], time_limit_s=30)
    counts = {"right": 0, "equal to everything": 0, "wrong": 0}
    for task, row in enumerate(rows):
        for name, program in zip(counts, (row.right, EQUAL_TO_EVERYTHING, row.wrong), strict=True):
            env.reset(task=task)
            step = env.step(f"```python\n{program}\n```")
            is_counted = name != "right" or not step.info["shared_process"]
            counts[name] += step.info["success"] and is_counted
    return counts


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"{'of ' + str(count) + ' rows passed':34}right  equal to everything  wrong")
    for name, (has_reference, has_name) in SHAPES.items():
        counts = passed(drawn(count, has_reference=has_reference, has_name=has_name))
        print(f"{name:34}{counts['right']:5}{counts['equal to everything']:21}{counts['wrong']:7}")


if __name__ == "__main__":
    main()
