"""Which texts of tests can fail a program."""

from __future__ import annotations

from typing import Any

import pytest

from gem.data import Misfit
from gem_envs_code.deciding import decides
from gem_envs_code.suites import Assertion, read_tests

TEST = "def test_f():\n    assert f(1) == 2\n"
CASE = """
import unittest
class TestF(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(1), 2)
"""

IDLE = {
    "a function that nothing calls": TEST,
    "a function of pytest's": f"import pytest\nimport sys\nsys.path.append('.')\n"
    f"mark = pytest.mark.slow()\n@mark\n{TEST}",
    "a class that nothing calls": CASE,
    "a class that is run as a program": f"{CASE}\nif __name__ == '__main__':\n    unittest.main()",
    "a class whose runner raises nothing": f"{CASE}\n"
    "suite = unittest.defaultTestLoader.loadTestsFromTestCase(TestF)\n"
    "unittest.TextTestRunner().run(suite)",
    "a program": "if __name__ == '__main__':\n    assert f(1) == 2",
    "a branch that is never taken": "if False:\n    assert f(1) == 2",
    "a comparison": "f(1) == 2",
    "comparisons": "for n in range(3):\n    f(n) == n + 1",
    "a comparison of what was kept": "got = f(1)\ngot == 2",
    "what is printed": "print(f(1) == 2)",
    "what all() says": "all(f(n) == n + 1 for n in range(3))",
    "what an imported function says": "import math\nmath.isclose(f(1), 2)",
    "a tuple": "assert (f(1) == 2, 'it should be 2')",
    "a list": "assert [f(1) == 2]",
    "a generator": "assert (f(n) == n + 1 for n in range(3))",
    "a function as a value": "assert lambda: f(1) == 2",
    "a constant": "assert True",
    "what is printed in a loop": "for n in range(3): print(f(n) == n + 1)",
    "what is printed of an assertion that is caught": "try:\n    assert f(1) == 2\n"
    "except AssertionError:\n    print('no')",
    "a list that is made before the program is called": "r = [3]\nr.append(1)\nr = f(r)",
    "a list with a type": "r: list = []\nr.append(1)",
    "what is written into a file": "with open('a', 'w') as a:\n    a.write('b')",
    "what is imported in the name of the program's": "from random import seed as solution\n"
    "solution(3)",
    "a text": "'f(1) is 2'",
    "an assertion that is caught": "try:\n    assert f(1) == 2\nexcept AssertionError:\n    pass",
    "an assertion that is caught with all": "try:\n    assert f(1) == 2\nexcept:\n    pass",
    "an assertion that is caught in a tuple": "try:\n    assert f(1) == 2\n"
    "except (TypeError, Exception):\n    pass",
}

DECIDING = {
    "an assertion": "assert f(1) == 2",
    "an assertion with words": "assert f(1) == 2, 'it should be 2'",
    "an assertion of an empty tuple": "if f(1) != 2:\n    assert ()",
    "an assertion in a loop": "for n in range(3):\n    if n:\n        assert f(n) == n + 1",
    "a call": "for n in range(50): f(n)",
    "a call of a method": "Solution().f(1)",
    "a function that is called": f"{TEST}\ntest_f()",
    "a function with the name of a builtin": "def all():\n    assert f(1) == 2\nall()",
    "functions that are called in a loop": f"{TEST}\nfor test in (test_f,): test()",
    "functions that are found": f"{TEST}\nfor name, test in list(globals().items()):\n"
    "    if name.startswith('test_'): test()",
    "a class that is used": "class T:\n    def run(self):\n        assert f(1)\nt = T()\nt.run()",
    "a function without a name": "run = lambda: check(f)\nrun()",
    "an imported assertion": "import numpy as np\ngot = f(1)\nnp.testing.assert_equal(got, 2)",
    "a method of a test case": "import unittest\nunittest.TestCase().assertEqual(f(1), 2)",
    "an error that is expected": "import pytest\nwith pytest.raises(ValueError):\n    got = f(1)",
    "an error that is caught": "try:\n    f(-1)\n    assert False\nexcept ValueError:\n    pass",
    "an error that is caught with all": "try:\n    f(-1)\nexcept Exception:\n    pass\n"
    "else:\n    assert False",
    "a raise": "if f(1) != 2:\n    raise ValueError",
    "a raise in a handler": "try:\n    assert f(1) == 2\nexcept AssertionError:\n    raise",
    "an end": "import sys\nif f(1) != 2:\n    sys.exit(1)",
    "a function of the program's": "from solution import selftest\nselftest()",
    "a function of the program's by another name": "from solution import all as sum\nsum()",
    "a function in the program": "import solution\nsolution.selftest()",
    "a function in the program by another name": "import solution as sol\nsol.selftest()",
    "an object of the program's that is used with": "with Solution() as s:\n    s.selftest()",
    "what the program made": "import random\nrandom = f(1)\nrandom.seed(0)",
    "what the program made, before another": "r = f(1)\nr.run()\nr = []",
    "a coroutine": "import asyncio\nasync def main():\n    assert await f(1)\nasyncio.run(main())",
}


@pytest.mark.parametrize("name", IDLE)
def test_a_row_that_would_pass_everything_is_refused(name: str) -> None:
    for tests in (IDLE[name], [IDLE[name]], [IDLE[name], IDLE[name]]):
        with pytest.raises(Misfit, match="tests that can fail a program"):
            read_tests(tests, "f")


@pytest.mark.parametrize("name", DECIDING)
def test_a_text_that_can_fail_a_program_is_a_test(name: str) -> None:
    assert decides(DECIDING[name])
    assert read_tests([DECIDING[name]]) == [Assertion(DECIDING[name])]


@pytest.mark.parametrize(
    "name",
    [
        *("a comparison", "comparisons", "a tuple", "a text", "a program"),
        "what is printed in a loop",
        "an assertion that is caught",
        "what is printed of an assertion that is caught",
        "a branch that is never taken",
    ],
)
def test_a_test_by_mistake_is_refused_beside_real_ones(name: str) -> None:
    with pytest.raises(Misfit, match="tests that can fail a program"):
        read_tests(["assert f(0) == 1", IDLE[name]])


@pytest.mark.parametrize(
    "tests",
    [
        ["import math", "assert f(4) == math.sqrt(16)"],
        ["cases = [(1, 2)]", "for n, want in cases: assert f(n) == want"],
        ["import random\nrandom.seed(0)", "random.seed(1)", "assert f(1) == 2"],
        [TEST, "test_f()"],
        ["data = []", "for i in range(3):\n    data.append(i)", "assert f(data) == 3"],
        ["import random", "for i in range(3): random.seed(i)", "assert f(1) == 2"],
        ["size = 0", "for i in range(3):\n    size += i", "assert f(size) == 3"],
        ["items = []", "if not items:\n    items.extend([1])", "assert f(items) == 2"],
        ["with open('a', 'w') as a:\n    a.write('b')", "assert f('a') == 'b'"],
        ["with open('a') as a:\n    text = a.read()", "assert f(text) == 2"],
        ["r = [3]\nr.append(1)\nr = f(r)", "assert r == 2"],
        ["import solution, random\nrandom.seed(0)", "assert solution.f(1) == 2"],
    ],
)
def test_texts_that_prepare_others_are_no_mistakes_and_no_tests(tests: Any) -> None:
    assert read_tests(tests) == [Assertion(tests[-1], tuple(tests[:-1]))]


def test_a_text_that_calls_the_program_by_a_name_that_an_earlier_one_imports_is_a_test() -> None:
    tests = ["from solution import selftest", "selftest()"]

    assert read_tests(tests) == [Assertion("selftest()", (tests[0],))]


def test_a_text_of_any_length_is_read() -> None:
    chain = "f" + ".g()" * 150
    many = "\n".join(f"assert f({n}) == {n + 1}" for n in range(20_000))

    assert decides(chain)
    assert decides(many)
