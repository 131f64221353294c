"""The environment: one problem, one program, graded by the problem's tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gem import DatasetEnv, Grade
from gem.content import normalise_text
from gem.data import TableArguments
from gem.env import in_thread, on_background
from gem.errors import BadArguments
from gem_envs_code.answers import INSTRUCTION, LONGEST, fenced, program_in
from gem_envs_code.candidate import Limits
from gem_envs_code.entries import method_of
from gem_envs_code.grading import grade
from gem_envs_code.jails import keep_sandbox
from gem_envs_code.outcome import Report
from gem_envs_code.rows import PROBLEM, Problem
from gem_envs_code.suites import Assertion, Stream, assertion_texts

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["CodeProblem"]

_UNREADABLE = (
    "No program could be read. Expected Python in one fenced block, ```python, of at most "
    f"{LONGEST} characters."
)


class CodeProblem(DatasetEnv[Problem]):
    r"""One programming problem of a data set: 1.0 for a program that passes every test, else 0.0.

    The table is `data`, the path of a file, a `datasets.Dataset` or a list of dictionaries, or
    else the data set `source` of the Hugging Face Hub; `fields` maps our fields (question, tests,
    function, given, solution, checker, comparison, tolerance, shared_process) to theirs.

    `time_limit_s` is CPU time, for each test, as `memory_mb` and `max_output_bytes` are. With
    `partial` the reward is the share of tests passed. `max_tests` keeps the first of a problem.
    `shown_tests` is how many assertions the question shows. `sandbox` is where programs run, with
    its `sandbox_options`.

    Raises DataError where the data is absent or malformed, SandboxUnavailable where this machine
    has no such sandbox, both here and not at `reset`.
    """

    kind = PROBLEM
    instruction = INSTRUCTION
    format_error_feedback = _UNREADABLE

    def __init__(
        self,
        *,
        time_limit_s: float = 4.0,
        memory_mb: int = 512,
        max_output_bytes: int = 4 << 20,
        max_tests: int | None = None,
        shown_tests: int = 1,
        partial: bool = False,
        format_error_reward: float = 0.0,
        sandbox: str = "bwrap",
        sandbox_options: Mapping[str, Any] | None = None,
        **table: Unpack[TableArguments],
    ) -> None:
        for name, value, most, least in (
            ("time_limit_s", time_limit_s, 600.0, 0.1),
            ("memory_mb", memory_mb, 1 << 16, 32),
            ("max_output_bytes", max_output_bytes, 16 << 20, 1),
            ("max_tests", 1 if max_tests is None else max_tests, 1 << 20, 1),
            ("shown_tests", shown_tests, 1 << 20, 0),
        ):
            if not least <= value <= most:
                raise BadArguments(
                    f"{name}={value} was asked for. It must lie between {least} and {most}.",
                    subject=type(self).__name__,
                )
        super().__init__(format_error_reward=format_error_reward, **table)
        self.limits = (time_limit_s, memory_mb, max_output_bytes)
        self.sandbox = (sandbox, json.dumps(dict(sandbox_options or {}), sort_keys=True))
        self.max_tests = max_tests
        self.shown_tests = shown_tests
        self.partial = partial
        keep_sandbox(self.sandbox)

    @property
    def row(self) -> Problem:
        """The problem of this episode, with the tests that are kept."""
        problem = super().row
        return problem if self.max_tests is None else problem.first(self.max_tests)

    def pose(self) -> str:
        return "\n\n".join(_posed(self.row, self.shown_tests))

    def find_answer(self, action: str) -> str | None:
        return program_in(action)

    def write_answer(self, answer: str) -> str:
        return fenced(answer)

    async def agrade(self, answer: str) -> Grade:
        problem = await in_thread(lambda: self.row)  # its tests may be megabytes
        grading = grade(
            problem,
            answer,
            limits=Limits(*self.limits),
            options=self.sandbox,
            run_all=self.partial,
        )
        return self._graded(await on_background(grading))

    def _graded(self, report: Report) -> Grade:
        count = len(report.outcomes)
        reward = report.num_passed / count if self.partial else float(report.success)
        info = {
            "tests": report.verdicts,
            "why": normalise_text(report.why),
            "shared_process": report.shared_process,
        }
        return Grade(reward, report.success, _feedback(report), {"tests": reward}, info)

    def unanswered(self) -> Grade:
        return Grade(None)

    def sample_action(self) -> str:
        return fenced(f"print({self.sample_rng.randrange(1000)})")

    def gold(self) -> str | None:
        return self.row.solution or None


def _posed(problem: Problem, most_tests: int) -> list[str]:
    """Return the paragraphs of a question: what is asked, and in which form."""
    pieces = [problem.question.strip()]
    first = problem.tests[0]
    if isinstance(first, Stream):
        pieces.append("Write a Python program that reads from stdin and writes to stdout.")
    elif not isinstance(first, Assertion):
        pieces.append(f"Write a Python function named {first.function}.")
    elif method_of(problem.function):
        pieces.append(
            f"Write a Python class Solution with the method {method_of(problem.function)}."
        )
    elif problem.function:
        pieces.append(f"Write the whole Python function {problem.function}.")
    elif most_tests:
        texts = assertion_texts(problem.tests[:most_tests])
        pieces.append("Write Python that passes tests like this:\n\n" + "\n".join(texts))
    return pieces


def _feedback(report: Report) -> str:
    """Return what a policy is told: nothing of an error's text, which may differ between runs."""
    if report.success:
        return "The program passed every test."
    number, verdict = next(
        (number, verdict)
        for number, verdict in enumerate(report.verdicts, 1)
        if verdict != "passed"
    )
    return f"Test {number} of {len(report.outcomes)} was not passed: {verdict}."
