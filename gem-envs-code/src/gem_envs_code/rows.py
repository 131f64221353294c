"""What a programming problem is made of, and how it is read from a row of a data set."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gem.data import Misfit, RowKind
from gem_envs_code.comparing import COMPARISONS, Comparison
from gem_envs_code.entries import CLASS, entry_of, method_of, only_method
from gem_envs_code.suites import Test, assertion_texts, read_tests

__all__ = ["PROBLEM", "Problem"]

_INDENTED = re.compile(r"\s*?^[ \t]+\S", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. `given` is code that runs before a program; `solution` may be empty.

    `function` is the name that a program must define, where it is not to read stdin, or
    `Solution().method` for a method of a class of that name; empty for none. `checker`
    is the text of a function that decides in place of `comparison`; empty for none.
    `shared_process` says that its assertions work only in one process with the program.
    """

    question: str
    tests: Sequence[Test]
    function: str = ""
    given: str = ""
    solution: str = ""
    checker: str = ""
    shared_process: bool = False
    comparison: Comparison = "tokens"
    tolerance: float | None = None

    def first(self, count: int) -> Problem:
        """Return the problem with its first tests alone."""
        return replace(self, tests=self.tests[:count])


def _read(row: Mapping[str, Any]) -> Problem:
    if not isinstance(row["question"], str) or not row["question"].strip():
        raise Misfit("question", row["question"], "text")
    for name in ("function", "given", "solution", "checker"):
        if not isinstance(row[name], str):
            raise Misfit(name, row[name], "text")
    if not isinstance(row["shared_process"], bool):
        raise Misfit("shared_process", row["shared_process"], "true or false")
    if row["comparison"] not in COMPARISONS:
        raise Misfit("comparison", row["comparison"], f"one of {', '.join(COMPARISONS)}")
    solution = _whole(row["given"], row["solution"])
    function = _entry(row["function"]) or only_method(solution)
    tests = read_tests(row["tests"], function)
    return Problem(
        question=row["question"],
        tests=tests,
        function=_entered(tests) or (function if row["function"] else ""),
        given=row["given"],
        solution=solution,
        checker=row["checker"],
        shared_process=row["shared_process"],
        comparison=row["comparison"],
        tolerance=_tolerance(row["tolerance"]),
    )


def _entry(function: str) -> str:
    method = method_of(function)
    return f"{CLASS}().{method}" if method else function.strip()


def _entered(tests: Sequence[Test]) -> str:
    """Return what the tests themselves call `check` with; their word counts before the field's."""
    entries = {entry_of(text) for text in assertion_texts(tests)} - {None}
    return _entry(entries.pop() or "") if len(entries) == 1 else ""


def _tolerance(value: Any) -> float | None:
    if value is None or (isinstance(value, (int, float)) and math.isfinite(value) and value >= 0):
        return value
    raise Misfit("tolerance", value, "a number, 0 or more")


def _whole(given_code: str, solution: str) -> str:
    """Return a solution by itself: one that begins indented goes on where `given_code` ends."""
    return given_code + solution if _INDENTED.match(solution) else solution


PROBLEM = RowKind(
    "programming problem",
    read=_read,
    needs=("question", "tests"),
    optional={
        "function": "",
        "given": "",
        "solution": "",
        "checker": "",
        "shared_process": False,
        "comparison": "tokens",
        "tolerance": None,
    },
)
