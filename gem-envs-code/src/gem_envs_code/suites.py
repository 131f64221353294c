"""The tests of a problem, read from the forms in which data sets publish them.

Knows nothing about how a test is run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from gem.data import Misfit
from gem_envs_code.deciding import deciding, prepares
from gem_envs_code.entries import entry_of, is_checking, method_of
from gem_envs_code.naming import parsed

__all__ = ["Assertion", "Call", "Stream", "Test", "assertion_texts", "read_tests"]

_WANTED = (
    'tests: {"inputs": [...], "outputs": [...]}, with "fn_name" for a function; a list of '
    '{"input": ..., "output": ...}; a list of assertions; or a text with check(candidate), which '
    "calls it at its end, as in check(Solution().method), or has its candidate in `function`"
)
_WANTED_OF_ASSERTIONS = (
    "tests that can fail a program: each has, outside of functions, classes and "
    "`if __name__ == ...`, an `assert` that may be false, a `raise`, or a call such as check(add) "
    "or test_add(). A test function that nothing calls, a comparison without `assert` and an "
    "`assert` of a tuple would pass everything"
)


@dataclass(frozen=True, slots=True)
class Stream:
    """What a program reads from stdin, and what it is to write to stdout."""

    input: str
    expected: str


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a function, as JSON values, and what it is to return."""

    function: str
    arguments: Sequence[Any]
    expected: Any


@dataclass(frozen=True, slots=True)
class Assertion:
    """Statements that raise unless the candidate's functions do what they should.

    `before` are the texts that prepare it: those that define, import or set something for it.
    `after` are such texts that no test follows. Each stays a text of its own: `from __future__`
    must begin one.
    """

    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


Test = Union[Stream, Call, Assertion]


def read_tests(given: Any, function: str = "") -> list[Test]:
    """Return a row's tests; `function` is the one that they call where they do not say so.

    Text is JSON, or Python where it is no JSON. Raises Misfit on what is no tests, or none, on
    a function `check` that is never called, and on assertions that would pass everything.
    """
    try:
        tests = list(_tests(given, function))
    except (LookupError, TypeError, ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise Misfit("tests", given, _WANTED) from error
    texts = assertion_texts(tests)
    if not tests or 0 < len(texts) < len(tests):
        raise Misfit("tests", given, _WANTED)
    return _assertions(given, texts) if texts else tests


def _assertions(given: Any, texts: Sequence[str]) -> list[Test]:
    """Return the tests among texts. One that only prepares is no test: every program would pass it.

    It runs before each test after it, or with the last one. Raises Misfit where no text can fail a
    program, or one neither can nor prepares: that is a test by mistake, whatever the others are.
    """
    tests: list[Assertion] = []
    before: list[str] = []
    for text, is_test in zip(texts, deciding(texts), strict=True):
        if is_test:
            tests.append(Assertion(text, tuple(before)))
        elif prepares(text):
            before.append(text)
        else:
            raise Misfit("tests", given, _WANTED_OF_ASSERTIONS)
    if not tests:
        raise Misfit("tests", given, _WANTED_OF_ASSERTIONS)
    last = tests[-1]
    after = tuple(before[len(last.before) :])
    return [*tests[:-1], Assertion(last.text, last.before, after)]


def assertion_texts(tests: Sequence[Test]) -> list[str]:
    """Return the texts of assertions, those that prepare them among them, in order."""
    texts: list[str] = []
    num_before = 0
    for test in tests:
        if isinstance(test, Assertion):
            texts += [*test.before[num_before:], test.text, *test.after]
            num_before = len(test.before)
    return texts


def _tests(suite: Any, function: str) -> Iterator[Test]:
    if isinstance(suite, str):
        yield from _read_text(suite, function)
    elif isinstance(suite, Mapping) and "inputs" in suite:
        if isinstance(suite["inputs"], str) or isinstance(suite["outputs"], str):
            raise TypeError("of one text each character would be a test")
        name = suite.get("fn_name") or function
        yield from (
            _test(text, output, name)
            for text, output in zip(suite["inputs"], suite["outputs"], strict=True)
        )
    elif isinstance(suite, Mapping):
        yield _one(suite, function)
    else:
        calls = any(isinstance(entry, str) and entry_of(entry) is not None for entry in suite)
        for test in suite:
            if isinstance(test, str):
                yield Assertion(_python(test) if calls else _checking(test, function))
            else:
                yield _one(test, function)


def _read_text(text: str, function: str) -> Iterator[Test]:
    try:
        inner = json.loads(text)
    except ValueError:
        yield Assertion(_checking(text, function))
        return
    if isinstance(inner, str):
        raise TypeError("a text in a text")
    yield from _tests(inner, function)


def _checking(text: str, function: str) -> str:
    """Return Python that calls the `check` which it defines."""
    if not is_checking(_python(text)) or entry_of(text) is not None:
        return text
    if not function:
        raise ValueError("check is never called: it would pass everything")
    return f"{text}\ncheck({function})\n"


def _python(text: str) -> str:
    if not parsed(text).body:
        raise ValueError("no statement")
    return text


def _one(test: Any, function: str) -> Test:
    if not isinstance(test, Mapping):
        raise TypeError("a test is an object")
    kind = test.get("type") or test.get("testtype") or ""
    is_stream = kind in ("stdin", "stdin_stdout")
    name = "" if is_stream else test.get("fn_name") or function
    return _test(test["input"], test["output"], name)


def _test(inputs: Any, expected: Any, function: str) -> Test:
    function = method_of(function) or function
    if not function:
        return Stream(_lines(inputs), _lines(expected))
    if isinstance(inputs, str):  # one argument a line, and the value, all of them JSON
        lines = [line for line in inputs.splitlines() if line.strip()]
        return Call(function, [json.loads(line) for line in lines], json.loads(expected))
    if not isinstance(inputs, Sequence):
        raise TypeError("arguments come in a list")
    return Call(function, inputs, expected)


def _lines(stream: Any) -> str:
    if isinstance(stream, str):
        return stream
    return "\n".join(_lines(line) for line in stream)
