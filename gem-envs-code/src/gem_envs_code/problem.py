"""The environment: one problem, one program, graded by the problem's tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gem.content import Observation, normalise_text
from gem.data import DataSource, Rows, load_table
from gem.env import Env, Step, in_thread, on_background
from gem.errors import BadArguments
from gem_envs_code.answers import INSTRUCTION, LONGEST, fenced, program_in
from gem_envs_code.candidate import Limits
from gem_envs_code.entries import method_of
from gem_envs_code.grading import grade
from gem_envs_code.jails import keep_sandbox
from gem_envs_code.outcome import Report
from gem_envs_code.rows import PROBLEM, Problem
from gem_envs_code.suites import Assertion, Stream

__all__ = ["CodeProblem"]

_UNREADABLE = (
    "No program could be read. Expected Python in one fenced block, ```python, of at most "
    f"{LONGEST} characters."
)


class CodeProblem(Env):
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

    shared = ("table",)
    max_turns = 1
    single_turn = True
    reward_range = (0.0, 1.0)

    def __init__(
        self,
        *,
        source: DataSource | None = None,
        data: str | Path | Rows | None = None,
        fields: Mapping[str, str] | None = None,
        split: str | None = None,
        limit: int | None = None,
        streaming: bool = False,
        time_limit_s: float = 4.0,
        memory_mb: int = 512,
        max_output_bytes: int = 4 << 20,
        max_tests: int | None = None,
        shown_tests: int = 1,
        partial: bool = False,
        format_error_reward: float = 0.0,
        sandbox: str = "bwrap",
        sandbox_options: Mapping[str, Any] | None = None,
    ) -> None:
        for name, value, most, least in (
            ("format_error_reward", format_error_reward, 0.0, -1.0),
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
        self.table = load_table(
            PROBLEM,
            source=source,
            data=data,
            fields=fields,
            split=split,
            limit=limit,
            streaming=streaming,
        )
        self.limits = (time_limit_s, memory_mb, max_output_bytes)
        self.sandbox = (sandbox, json.dumps(dict(sandbox_options or {}), sort_keys=True))
        self.max_tests, self.shown_tests, self.partial = max_tests, shown_tests, partial
        self.format_error_reward = format_error_reward
        self.reward_range = (format_error_reward, 1.0)
        self.num_tasks = len(self.table)
        self.task = 0
        keep_sandbox(self.sandbox)

    def reset(
        self, seed: int | None = None, *, task: int | None = None, **options: Any
    ) -> tuple[Observation, dict[str, Any]]:
        """Pose a problem: item `task` of the set, or one that `rng` draws."""
        if options:
            raise BadArguments(
                f"{type(self).__name__} was reset with {', '.join(options)}. It takes seed and "
                "task; pass everything else to gem.make.",
                subject=type(self).__name__,
            )
        self.task = self.pick_task(task)
        return "\n\n".join(_posed(self._problem(), self.shown_tests)), {"task": self.task}

    async def astep(self, action: str) -> Step:
        program = program_in(action)
        if program is None:
            reward = self.format_error_reward
            parts = {"format_error": reward}
            facts = {"success": False, "action_error": "format"}
            return Step(_UNREADABLE, reward, True, False, self._info(parts, facts))
        report = await on_background(
            grade(
                await in_thread(self._problem),  # its tests may be megabytes
                program,
                limits=Limits(*self.limits),
                options=self.sandbox,
                run_all=self.partial,
            )
        )
        return self._graded(report)

    def _graded(self, report: Report) -> Step:
        count = len(report.outcomes)
        reward = report.num_passed / count if self.partial else float(report.success)
        facts = {
            "success": report.success,
            "tests": report.verdicts,
            "why": normalise_text(report.why),
            "shared_process": report.shared_process,
        }
        return Step(_told(report), reward, True, False, self._info({"tests": reward}, facts))

    def _info(self, parts: dict[str, float], facts: dict[str, Any]) -> dict[str, Any]:
        return {**facts, "task": self.task, "reward_parts": parts}

    def sample_action(self) -> str:
        return fenced(f"print({self.sample_rng.randrange(1000)})")

    def solve(self) -> str | None:
        solution = self._problem().solution
        return fenced(solution) if solution else None

    def _problem(self) -> Problem:
        problem = self.table[self.task]
        return problem if self.max_tests is None else problem.first(self.max_tests)


def _posed(problem: Problem, shown: int) -> list[str]:
    """Return the paragraphs of a question: what is asked, in which form, and how to answer."""
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
    elif shown:
        texts = [test.text for test in problem.tests[:shown] if isinstance(test, Assertion)]
        pieces.append("Write Python that passes tests like this:\n\n" + "\n".join(texts))
    return [*pieces, INSTRUCTION]


def _told(report: Report) -> str:
    """Return what a policy is told: nothing of an error's text, which may differ between runs."""
    if report.success:
        return "The program passed every test."
    number, verdict = next(
        (number, verdict)
        for number, verdict in enumerate(report.verdicts, 1)
        if verdict != "passed"
    )
    return f"Test {number} of {len(report.outcomes)} was not passed: {verdict}."
