from __future__ import annotations

import json
from typing import Any

import pytest

from gem.data import Misfit
from gem_envs_code.suites import Assertion, Call, Stream, read_tests

STREAMS = [Stream("1 2\n", "3\n"), Stream("2 2\n", "4\n")]
CALLS = [Call("add", [1, 2], 3), Call("add", [2, 2], 4)]
IN_LISTS = {"inputs": ["1 2\n", "2 2\n"], "outputs": ["3\n", "4\n"]}
CALLS_IN_LISTS = {"fn_name": "add", "inputs": [[1, 2], [2, 2]], "outputs": [3, 4]}
ONE_BY_ONE = [{"input": "1 2\n", "output": "3\n"}, {"input": "2 2\n", "output": "4\n"}]


@pytest.mark.parametrize(
    "given",
    [
        IN_LISTS,
        {**IN_LISTS, "fn_name": None},
        {"inputs": [["1 2", ""], "2 2\n"], "outputs": [["3", ""], ["4", ""]]},
        ONE_BY_ONE,
        [{**test, "type": "stdin_stdout", "fn_name": None} for test in ONE_BY_ONE],
        [{**test, "testtype": "stdin"} for test in ONE_BY_ONE],
    ],
)
def test_programs_are_tested_by_what_they_read_and_write(given: Any) -> None:
    assert read_tests(given) == STREAMS
    assert read_tests(json.dumps(given)) == STREAMS


@pytest.mark.parametrize(
    ("given", "function"),
    [
        (CALLS_IN_LISTS, ""),
        ({key: CALLS_IN_LISTS[key] for key in ("inputs", "outputs")}, "add"),
        (
            [
                {"type": "function_call", "fn_name": "add", "input": [1, 2], "output": 3},
                {"type": "function_call", "fn_name": "add", "input": [2, 2], "output": 4},
            ],
            "",
        ),
        (
            [
                {"testtype": "functional", "input": "1\n2", "output": "3"},
                {"testtype": "functional", "input": "2\n2\n", "output": "4"},
            ],
            "add",
        ),
    ],
)
def test_functions_are_tested_by_arguments_and_values(given: Any, function: str) -> None:
    assert read_tests(given, function) == CALLS
    assert read_tests(json.dumps(given), function) == CALLS


def test_one_problem_may_have_tests_of_both_forms() -> None:
    tests = [
        {"type": "stdin_stdout", "input": "1 2\n", "output": "3\n"},
        {"type": "function_call", "fn_name": "add", "input": [1, 2], "output": 3},
    ]

    assert read_tests(tests) == [STREAMS[0], CALLS[0]]


def test_assertions_are_python() -> None:
    assert read_tests(["assert f(1) == 2", "assert f(2) == 3"]) == [
        Assertion("assert f(1) == 2"),
        Assertion("assert f(2) == 3"),
    ]


def test_what_prepares_assertions_runs_before_each_test_after_it_and_counts_as_none() -> None:
    texts = ["import math", "assert f(4) == 2", "want = 3", "assert f(9) == want", "print('ended')"]

    assert read_tests(texts) == [
        Assertion("assert f(4) == 2", ("import math",)),
        Assertion("assert f(9) == want", ("import math", "want = 3"), ("print('ended')",)),
    ]


def test_a_function_that_checks_is_called_with_the_one_asked_for() -> None:
    text = "def check(candidate):\n    assert candidate(1) == 2\n"

    assert read_tests(text, "f") == [Assertion(f"{text}\ncheck(f)\n")]


@pytest.mark.parametrize(
    "given",
    [
        None,
        3,
        "",
        [],
        {},
        "not python (",
        ["assert ("],
        ["  "],
        '"text"',
        {"inputs": ["1"], "outputs": []},
        {"inputs": [], "outputs": []},
        {"inputs": [1], "outputs": [2]},
        {"inputs": "5\n", "outputs": "6\n"},
        {"inputs": ["5"], "outputs": "6"},
        {"inputs": ["1"]},
        [{"input": "1"}],
        [{"input": "1", "output": "2"}, "assert f(1) == 2"],
        ["assert f(1) == 2", {"input": "1", "output": "2"}],
        [1],
        {"fn_name": "f", "inputs": [{"a": 1}], "outputs": [1]},
        {"fn_name": "f", "inputs": ["not json"], "outputs": ["1"]},
        "[" * 100_000,
    ],
)
def test_what_is_no_tests_is_refused(given: Any) -> None:
    with pytest.raises(Misfit, match="tests"):
        read_tests(given)
