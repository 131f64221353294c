"""What a test sees of the errors that a function of the program's raises."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gem import Step

Solve = Callable[..., Step]

EXPECTED = """\
try:
    f(1)
except {kind} as error:
    assert {claim}, (type(error), error.args)
else:
    raise AssertionError("it raised nothing")
"""
OWN = "class Own(ValueError):\n    def __init__(self, code): self.code = code\n"
WORDED = f"{OWN}    def __str__(self): return f'code {{self.code}}'\n"
MUTE = f"{OWN}    def __str__(self): return 1 / 0\n"
DECODES = "def f(a): return b'\\xff'.decode('ascii')"


@pytest.mark.parametrize(
    ("program", "kind", "claim"),
    [
        ("def f(a): raise ValueError('bad')", "ValueError", "str(error) == 'bad'"),
        ("def f(a): raise ValueError('bad')", "Exception", "error.args == ('bad',)"),
        ("def f(a): raise ValueError('bad', a, (2,))", "ValueError", "error.args[1:] == (1, (2,))"),
        ("def f(a): raise ValueError", "ValueError", "str(error) == ''"),
        ("def f(a): raise ValueError(f)", "ValueError", "str(error).startswith('<function f')"),
        ("def f(a): raise ValueError('x' * 10 ** 6)", "ValueError", "str(error)[:2] == 'xx'"),
        (
            "def f(a): return {}['k']",
            "KeyError",
            "error.args == ('k',) and str(error) == repr('k')",
        ),
        ("def f(a): raise OSError(2, 'gone')", "FileNotFoundError", "error.errno == 2"),
        ("def f(a): open('no')", "FileNotFoundError", "(error.errno, error.filename) == (2, 'no')"),
        ("def f(a): open('no')", "OSError", "str(error).endswith(\"directory: 'no'\")"),
        ("def f(a): open('no')", "OSError", "error.args == (2, 'No such file or directory')"),
        (
            "import os\ndef f(a): os.rename('no', 'yes')",
            "FileNotFoundError",
            "(error.errno, error.filename, error.filename2) == (2, 'no', 'yes')",
        ),
        ("def f(a): raise OSError(2, 'gone', 'x', None, 'y')", "OSError", "error.errno == 2"),
        ("def f(a): raise OSError('gone')", "OSError", "error.args == ('gone',)"),
        ("def f(a): raise OSError(1, 2, 3, 4, 5, 6)", "OSError", "error.args[5:] == (6,)"),
        (
            "class Own(OSError):\n    def __init__(self, a): super().__init__(2, 'gone', 'x')\n"
            "def f(a): raise Own(a)",
            "OSError",
            "error.errno == 2 and error.filename == 'x'",
        ),
        ("def f(a): import nothing_here", "ImportError", "'nothing_here' in str(error)"),
        ("def f(a): compile('(', 'x', 'exec')", "SyntaxError", "error.lineno == 1"),
        (DECODES, "UnicodeDecodeError", "error.start == 0 and error.object == b'\\xff'"),
        (DECODES, "ValueError", "'ordinal not in range' in str(error)"),
        (f"{OWN}def f(a): raise Own(7)", "ValueError", "error.args == (7,)"),
        (f"{WORDED}def f(a): raise Own(7)", "ValueError", "str(error) == 'code 7'"),
        (f"{MUTE}def f(a): raise Own(7)", "ValueError", "type(error) is ValueError"),
        (
            "class Own(UnicodeDecodeError):\n    def __str__(self): return 'own'\n"
            "def f(a): raise Own('ascii', b'', 0, 1, 'no')",
            "UnicodeError",
            "str(error) == 'own'",
        ),
        ("def f(a): assert False, 'no'", "RuntimeError", "str(error) == 'no'"),
    ],
)
def test_a_test_sees_the_text_and_the_arguments_of_an_error(
    solve: Solve, program: str, kind: str, claim: str
) -> None:
    step = solve(program, [EXPECTED.format(kind=kind, claim=claim)])

    assert step.info["tests"] == ["passed"], step.info
    assert not step.info["shared_process"]


@pytest.mark.parametrize(
    "program",
    [
        "def f(a): raise ValueError('worse')",
        "def f(a): raise TypeError('bad')",
        "def f(a): raise ValueError(['bad'])",
        "def f(a): return ValueError('bad')",
        "def f(a): assert False, 'bad'",
        "class Text(str):\n    def __eq__(self, other): return True\n"
        "def f(a): raise ValueError(Text('worse'))",
    ],
)
def test_another_error_is_not_the_one_that_a_test_expects(solve: Solve, program: str) -> None:
    step = solve(program, [EXPECTED.format(kind="ValueError", claim="str(error) == 'bad'")])

    assert step.reward == 0.0
