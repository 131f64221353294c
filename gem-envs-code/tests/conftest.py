"""What the tests of this pack share: a sandbox, where there is one, and one problem at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gem import Step

Solve = Callable[..., Step]


@pytest.fixture(scope="session")
def sandbox() -> None:
    """Skip where programs cannot be run."""
    tools = pytest.importorskip("gem_tools.sandbox", reason="the extra `sandbox` is not installed")
    try:
        tools.make_sandbox()
    except tools.SandboxUnavailable as unavailable:
        pytest.skip(str(unavailable))


@pytest.fixture
def solve(sandbox: None) -> Solve:
    """Return a function that grades a program by tests, and returns the step.

    What else it is given by keyword are the problem's own fields, or arguments of the environment.
    A program has time enough on a busy machine, unless a test says how much.
    """
    from gem_envs_code.problem import CodeProblem
    from gem_envs_code.rows import PROBLEM

    def run(program: str, tests: object, **given: Any) -> Step:
        row = {name: given.pop(name) for name in list(given) if name in PROBLEM.optional}
        given = {"time_limit_s": 30, **given}
        env = CodeProblem(data=[{"question": "Do it.", "tests": tests, **row}], **given)
        env.reset(task=0)
        return env.step(f"```python\n{program}\n```")

    return run
