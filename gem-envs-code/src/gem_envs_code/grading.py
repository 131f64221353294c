"""Grade a program by the tests of its problem.

Verdicts are made here or in jails that the program is not in: its own jail never learns what was
expected. Each test gets a new process; where one is not passed, the rest are not run.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from gem.env import in_thread
from gem_envs_code.candidate import Candidate, Ending, Limits
from gem_envs_code.checking import Checker
from gem_envs_code.comparing import Uncomparable, as_json, same_text, same_value
from gem_envs_code.examining import Examiner, Uncrossed
from gem_envs_code.inside.values import encoded
from gem_envs_code.jails import Options, place
from gem_envs_code.outcome import Outcome, Report
from gem_envs_code.rows import Problem
from gem_envs_code.suites import Assertion, Call, Stream
from gem_envs_code.surroundings import surroundings

__all__ = ["grade"]

_AHEAD_S = 0.05
_MOST_AHEAD = 16
"""CPU seconds and tests that are spent in vain at most where a test turns out to be wrong."""

_LONG = 1 << 18


async def grade(
    problem: Problem,
    program: str,
    *,
    limits: Limits,
    options: Options,
    run_all: bool = False,
) -> Report:
    """Run a program through the tests, up to the first that it does not pass.

    With `run_all` wrong answers and errors do not end it; running out of time or memory does.
    Waits until there is a place for one more problem. Raises SandboxError where the sandbox
    fails, and then there is no verdict.
    """
    async with place():
        grading = _Grading(problem, program, limits, options)
        outcomes: list[Outcome] = []
        # Closed here and not when it is collected: the jails end before the place is given up.
        async with aclosing(grading.outcomes()) as coming:
            async for outcome in coming:
                outcomes.append(outcome)
                if outcome.verdict != "passed" and not (run_all and outcome.verdict in _GOES_ON):
                    break
    missing = len(problem.tests) - len(outcomes)
    return Report((*outcomes, *[Outcome("not_run")] * missing), grading.shared_process)


_GOES_ON = ("wrong", "error")


class _Grading:
    """One program on its way through the tests of one problem."""

    def __init__(self, problem: Problem, program: str, limits: Limits, options: Options) -> None:
        self._problem = problem
        self._program = program
        self._limits = limits
        self._options = options
        self.shared_process = False
        self._surroundings = surroundings(problem)

    async def outcomes(self) -> AsyncGenerator[Outcome, None]:
        """Yield what becomes of each test, in order."""
        problem = self._problem
        given_texts = [problem.given] if problem.given else []
        classes = self._surroundings.classes if self._surroundings else []
        async with Candidate(
            self._program, self._limits, self._options, given=given_texts, classes=classes
        ) as candidate:
            if isinstance(problem.tests[0], Assertion):
                coming = self._of_assertions(candidate)
            else:
                coming = self._of_answers(candidate)
            async with aclosing(coming):
                async for outcome in coming:
                    yield outcome

    async def _of_answers(self, candidate: Candidate) -> AsyncGenerator[Outcome, None]:
        """Compare answers: of the first test alone, then of as many as are quick to run."""
        tests = self._problem.tests
        at = 0
        size = 1
        async with Checker(self._problem.checker, self._limits, self._options) as checker:
            while at < len(tests):
                streams = _together(tests[at : at + size])
                if streams:
                    endings = await candidate.run([test.input for test in streams])
                    # The last ending may be a bad one, and the tests after it were not run.
                    for test, ending in zip(streams, endings, strict=False):
                        yield await self._judged(test, ending, checker)
                    at += len(endings)
                    size = _affordable(max(ending.cpu_s for ending in endings))
                else:
                    yield await self._called(tests[at], candidate)
                    at += 1

    async def _judged(self, test: Stream, ending: Ending, checker: Checker) -> Outcome:
        if ending.verdict != "ended":
            return Outcome(ending.verdict, ending.why)
        output = ending.output.decode("utf-8", "replace")
        if self._problem.checker:
            return await checker.judge(test.input, output, test.expected)
        comparison = (output, test.expected, self._problem.comparison, self._problem.tolerance)
        # On the loop a long comparison would hold up every other episode.
        is_long = len(output) + len(test.expected) > _LONG
        is_same = await in_thread(same_text, *comparison) if is_long else same_text(*comparison)
        return Outcome("passed") if is_same else Outcome("wrong", "wrote another output")

    async def _called(self, test: object, candidate: Candidate) -> Outcome:
        assert isinstance(test, Call)
        arguments = encoded([list(test.arguments), {}])
        ending = await candidate.call(test.function, arguments)
        if ending.verdict != "ended":
            return Outcome(ending.verdict, ending.why)
        is_long = len(ending.output) > _LONG
        compare = (ending.output, test.expected, self._problem.tolerance)
        return await in_thread(_returned, *compare) if is_long else _returned(*compare)

    async def _of_assertions(self, candidate: Candidate) -> AsyncGenerator[Outcome, None]:
        tests = [test for test in self._problem.tests if isinstance(test, Assertion)]
        if self._surroundings is None:
            self.shared_process = True
            for test in tests:
                yield await self._shared(test, candidate)
            return
        async with Examiner(self._surroundings, self._limits, self._options) as examiner:
            for test in tests:
                try:
                    yield await examiner.examine(test, candidate)
                except Uncrossed:  # by what the test hands over, never by what comes back
                    self.shared_process = True
                    yield await self._shared(test, candidate)

    async def _shared(self, test: Assertion, candidate: Candidate) -> Outcome:
        """Run a test in one process with the candidate, which can deceive it if it means to."""
        word = secrets.token_hex(
            16
        )  # a new one, so that no output of the program's is taken for it
        function = self._problem.function
        named = function if function.isidentifier() else ""
        ending = await candidate.exam([*test.before, test.text, *test.after], word, named)
        if ending.verdict == "ended" and ending.output == word.encode("ascii"):
            return Outcome("passed")
        if ending.verdict == "ended":
            return Outcome("error", "ended before the test did")
        if ending.verdict == "error" and ending.why.startswith("AssertionError"):
            return Outcome("wrong", ending.why)
        return Outcome(ending.verdict, ending.why)


def _affordable(cpu_s: float) -> int:
    """Return how many tests of this length may run ahead of the comparison of their outputs."""
    return max(1, min(_MOST_AHEAD, int(_AHEAD_S / max(cpu_s, 1e-6))))


def _together(tests: Sequence[object]) -> list[Stream]:
    """Return the tests from the first on that can be run together, their input not too long."""
    streams: list[Stream] = []
    length = 0
    for test in tests:
        if not isinstance(test, Stream) or length > _LONG:
            break
        streams.append(test)
        length += len(test.input)
    return streams


def _returned(output: bytes, expected: object, tolerance: float | None) -> Outcome:
    """Compare what a candidate says that it returned. Data sets may put a value into a list."""
    try:
        answer = json.loads(output)
        if "raised" in answer:
            return Outcome("error", str(answer["why"]))
        if "uncrossed" in answer:
            return Outcome("wrong", f"returned no plain value: {answer['uncrossed']}")
        value = as_json(json.loads(answer["returned"]))
        is_right = same_value(value, expected, tolerance) or (
            isinstance(expected, list)
            and len(expected) == 1
            and same_value(value, expected[0], tolerance)
        )
    except (ValueError, TypeError, KeyError, RecursionError, Uncomparable):
        return Outcome("wrong", "returned no value that JSON has")
    return Outcome("passed") if is_right else Outcome("wrong", "returned another value")
