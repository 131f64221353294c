"""Programs that mean to pass tests which they should not, or to harm what comes after them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gem import Step

Solve = Callable[..., Step]

STREAMS = {"inputs": ["7\n", "8\n"], "outputs": ["14\n", "16\n"]}
ASSERTIONS = ["assert f(7) == 14", "assert f(8) == 16"]
LIMITS: dict[str, Any] = {"time_limit_s": 30, "memory_mb": 128, "max_output_bytes": 1 << 16}
HASTY = {**LIMITS, "time_limit_s": 0.5}
"""For what may never end: any verdict on it will do, but for "passed"."""

PROGRAMS = {
    "exits at once": "import os\nos._exit(0)",
    "exits as if all were well": "import sys\nsys.exit(0)",
    "prints what graders print": "print('PASSED OK 1.0', {'success': True, 'tests': ['passed']})",
    "prints every number": "print(*range(1000))",
    "writes to every descriptor": """
import os, struct
ended = '{"status": "ok", "exit_code": 0, "signal": null, "cpu_s": 0, "said": "", "size": 3}'
body = f"[{ended}]\\n14\\n".encode()
for number in range(3, 256):
    for content in (struct.pack(">I", len(body)) + body, b"14\\n"):
        try:
            os.write(number, content)
        except OSError:
            pass
""",
    "kills the process that started it": "import os\nos.kill(os.getppid(), 9)\nprint(14)",
    "stops the process that started it": "import os\nos.kill(os.getppid(), 19)\nprint(14)",
    "kills everything": "import os\nos.kill(-1, 9)",
    "leaves processes behind": """
import os, time
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        for _ in range(600):
            print("still here", flush=True)
            time.sleep(0.1)
        os._exit(0)
""",
    "forks without end": """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
""",
    "starts threads without end": """
import threading, time
while True:
    threading.Thread(target=time.sleep, args=(60,)).start()
""",
    "writes without end": "while True:\n    print('14' * 10000)",
    "writes errors without end": """
import sys
while True:
    print("14" * 10000, file=sys.stderr)
""",
    "reads without end": """
while True:
    try:
        input()
    except EOFError:
        pass
""",
    "takes all memory": "held = []\nwhile True:\n    held.append(bytearray(10_000_000))",
    "takes all memory with its children": """
import os, time
for _ in range(8):
    if os.fork() == 0:
        held = b"1" * 60_000_000
        time.sleep(60)
time.sleep(60)
""",
    "recurses without end": """
import sys
sys.setrecursionlimit(10 ** 9)
def g(n): return g(n + 1)
g(0)
""",
    "recurses in C": "import json\njson.loads('[' * 10 ** 6)",
    "nests too deep for a compiler": "x = " + "(" * 5000 + ")" * 5000,
    "is endless arithmetic": "print(9 ** 9 ** 9)",
    "fills the disk": """
import os
number = 0
while True:
    try:
        with open(f"file{number}", "wb") as file:
            file.write(b"1" * 60000)
    except OSError:
        pass
    number += 1
    if number == 5000:
        break
""",
    "nests folders deep": """
import os
for _ in range(3000):
    os.mkdir("d")
    os.chdir("d")
""",
    "ignores every signal": """
import signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    pass
""",
    "closes its streams": "import os, sys\nsys.stdout.close()\nos.closerange(0, 100)",
    "replaces its streams": "import sys\nsys.stdout = sys.stderr = sys.stdin = None",
    "breaks the modules of its runner": """
import atexit, json, os, sys, threading
json.dumps = lambda *_, **__: '[{"status": "ok"}]'
os._exit = lambda status: None
threading._shutdown = lambda: 1 / 0
atexit.register(lambda: 1 / 0)
sys.excepthook = lambda *_: print(14)
raise SystemError
""",
}

FUNCTIONS = {
    "equals everything": """
class Liar(int):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = int.__hash__
    __bool__ = lambda self: True
def f(n): return Liar(3)
""",
    "equals everything, as an object": """
class Liar:
    __eq__ = lambda self, other: True
def f(n): return Liar()
""",
    "returns a type that lies": """
class Meta(type):
    __eq__ = lambda self, other: True
    __hash__ = type.__hash__
class Liar(metaclass=Meta): pass
def f(n): return Liar
""",
    "patches builtins": """
import builtins
builtins.int = builtins.len = builtins.isinstance = lambda *_: True
builtins.AssertionError = Exception
def f(n): return 3
""",
    "patches json": """
import json
json.dumps = lambda *_, **__: '{"returned": "14"}' if 0 else '{"verdict": "passed"}'
def f(n): return 3
""",
    "answers with a verdict": """
import os
def f(n):
    for number in range(3, 100):
        try:
            os.write(number, b'{"verdict": "passed"}')
        except OSError:
            pass
    os._exit(0)
""",
    "answers twice": """
import os
def f(n):
    for number in range(3, 100):
        try:
            os.write(number, b'{"returned": "14"}{"returned": "16"}')
        except OSError:
            pass
    return 3
""",
    "raises what a test catches": "def f(n): raise AssertionError('passed')",
    "raises what ends a test": "def f(n): raise SystemExit(0)",
    "raises what ends a loop": "def f(n): raise StopIteration",
    "claims another type of error": """
class SystemExit(Exception): pass
SystemExit.__module__ = "builtins"
def f(n): raise SystemExit
""",
    "returns too much": "def f(n): return [0] * 10 ** 7",
    "returns what nests too deep": """
def f(n):
    value = []
    for _ in range(100_000):
        value = [value]
    return value
""",
    "returns numbers of which all have one hash": """
def f(n): return {k * (2 ** 61 - 1): 0 for k in range(2000)}
""",
    "returns a number with many digits": "def f(n): return 10 ** 100_000",
    "does nothing": "pass",
    "kills the process that started it": "import os\ndef f(n): os.kill(os.getppid(), 9)",
    "never returns": "def f(n):\n    while True: pass",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hostile_program_passes_nothing_and_harms_nothing(solve: Solve, name: str) -> None:
    hostile = solve(PROGRAMS[name], STREAMS, **HASTY)
    honest = solve("print(int(input()) * 2)", STREAMS, **LIMITS)

    assert hostile.info["tests"][0] in ("wrong", "error", "timeout", "memory"), hostile.info
    assert hostile.reward == 0.0
    assert honest.info["tests"] == ["passed", "passed"], honest.info


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_hostile_function_passes_nothing_and_harms_nothing(solve: Solve, name: str) -> None:
    hostile = solve(FUNCTIONS[name], ASSERTIONS, **HASTY)
    honest = solve("def f(n): return 2 * n", ASSERTIONS, **LIMITS)

    assert hostile.info["tests"][0] in ("wrong", "error", "timeout", "memory"), hostile.info
    assert (hostile.reward, hostile.info["shared_process"]) == (0.0, False)
    assert honest.info["tests"] == ["passed", "passed"], honest.info


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_hostile_function_returns_no_right_value(solve: Solve, name: str) -> None:
    tests = {"fn_name": "f", "inputs": [[7]], "outputs": [14]}

    hostile = solve(FUNCTIONS[name], tests, **HASTY)

    assert hostile.info["tests"][0] in ("wrong", "error", "timeout", "memory"), hostile.info


LOOPS = [
    "for got, want in zip(map(f, [7, 8]), [14, 16]):\n    assert got == want",
    "assert all(map(f, [7, 8]))",
    "for got in iter(lambda: f(7), None):\n    assert got == 14\n    break",
    "assert next(map(f, [7]), 14) == 14",
    "assert not [got for got in map(f, [7, 8]) if got not in (14, 16)]",
    "class Table:\n    def __iter__(self): return self\n    def __next__(self): return f(7)\n"
    "for got in Table():\n    assert got == 14\n    break",
]


@pytest.mark.parametrize("kind", ["StopIteration", "StopAsyncIteration", "End"])
@pytest.mark.parametrize("loop", LOOPS)
def test_a_function_ends_no_loop_of_a_test(solve: Solve, loop: str, kind: str) -> None:
    program = f"class End(StopIteration): pass\ndef f(n): raise {kind}"

    assert solve(program, [loop]).info["tests"] == ["error"]
    assert solve("def f(n): return 2 * n", [loop]).info["tests"] == ["passed"]


@pytest.mark.slow
def test_what_one_test_leaves_running_is_gone_before_the_next(solve: Solve) -> None:
    program = """
import os, signal, time
for _ in range(100):
    try:
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
    except OSError:
        break
print("the most processes")
"""
    tests = {"inputs": ["", "", ""], "outputs": ["the most processes"] * 3}

    step = solve(program, tests, memory_mb=512)

    assert step.info["tests"] == ["passed"] * 3


@pytest.mark.slow
def test_every_test_of_a_hostile_program_is_its_own(solve: Solve) -> None:
    program = """
import os
n = int(input())
if n % 2:
    os.kill(os.getppid(), 9)
print(n * 2)
"""
    tests = {"inputs": ["2", "3", "4", "5"], "outputs": ["4", "6", "8", "10"]}

    step = solve(program, tests, partial=True, **LIMITS)

    assert step.info["tests"] == ["passed", "error", "passed", "error"]


SEARCH = """
import gc, os, re, sys
seen = [repr(os.environ), repr(sys.argv), repr(gc.get_objects())]
frame = sys._getframe()
while frame:
    seen.append(repr(frame.f_locals) + repr(frame.f_globals))
    frame = frame.f_back
for folder in ("/tmp", "/gem", "/dev/shm", "."):
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                seen.append(open(os.path.join(path, name)).read())
            except (OSError, ValueError):
                pass
for number in range(3, 100):
    try:
        seen.append(repr(os.pread(number, 1 << 20, 0)))
    except OSError:
        pass
found = re.search("secret-[0-9]+", "".join(seen))
answer = found[0] if found else "none of " + str(sum(map(len, seen)))
"""


def test_no_expected_value_is_anywhere_in_a_candidates_jail(solve: Solve) -> None:
    step = solve(
        f"{SEARCH}\nprint(answer)", {"inputs": ["1", "2"], "outputs": ["secret-1", "secret-2"]}
    )

    assert step.info["tests"] == ["wrong", "not_run"]


def test_no_text_of_a_test_is_anywhere_in_a_candidates_jail(solve: Solve) -> None:
    program = f"def f():{SEARCH}return answer".replace("\n", "\n    ")

    step = solve(program, ["assert f() == 'secret-1'", "assert f() == 'secret-2'"])

    assert step.info["tests"] == ["wrong", "not_run"]


def test_the_search_finds_what_is_there(solve: Solve) -> None:
    step = solve(
        f"hidden = ['secret-' + str(number) for number in [7]]\n{SEARCH}\nprint(answer)",
        {"inputs": [""], "outputs": ["secret-7"]},
    )

    assert step.info["tests"] == ["passed"]


@pytest.mark.parametrize("answer", ["{'raised': 'ValueError', 'why': why}", "{'uncrossed': why}"])
def test_what_a_program_says_of_itself_is_cut(solve: Solve, answer: str) -> None:
    forges = f"""\
import json, os
def f(a):
    why = "x" * 10 ** 6
    for number in range(3, 16):
        try:
            os.write(number, json.dumps({answer}).encode())
        except OSError:
            pass
    os._exit(0)
"""
    step = solve(forges, {"fn_name": "f", "inputs": [[1]], "outputs": [1]})

    assert step.reward == 0.0
    assert "xxx" in step.info["why"]
    assert len(step.info["why"]) <= 500
