"""`CodeEnv`: the class of gem-llm's `gem.envs.code_env`, over our data, sandbox and grader."""

from __future__ import annotations

from typing import Any

from gem.compat import TaskOrder, answered, table_arguments
from gem.content import Observation
from gem.env import Step, wait_for
from gem_envs_code.candidate import Limits
from gem_envs_code.grading import grade
from gem_envs_code.problem import CodeProblem

__all__ = ["CodeEnv"]


class CodeEnv(TaskOrder, CodeProblem):
    """A programming problem of a data set: 1.0 for a program that passes, -0.1 for none.

    `dataset` is the table itself, or several by the name of their split; `dataset_name` is one of
    the Hugging Face Hub. `reset()` takes every problem once before any again, in an order that
    `seed` fixes. `max_tests` keeps the first of a problem. `max_workers`, `verbose` and
    `sandbox_type` are ignored: every program runs in the sandbox of `CodeProblem`.
    """

    def __init__(
        self,
        dataset_name: str | None = "",
        split: str | None = None,
        dataset: Any = None,
        question_key: str = "problem",
        test_key: str = "tests",
        seed: int = 0,
        max_workers: int = 5,
        max_tests: int = 12,
        verbose: bool = False,
        sandbox_type: str = "none",
        **_: Any,
    ) -> None:
        super().__init__(
            **table_arguments(
                dataset,
                dataset_name=dataset_name,
                split=split,
                fields={"question": question_key, "tests": test_key},
            ),
            max_tests=max_tests,
            format_error_reward=-0.1,
        )
        self.seed = seed
        self.begin(seed)

    def reset(
        self, seed: int | None = None, *, task: int | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Pose problem `task`, or the next one."""
        if task is None:
            task = self.next_task(len(self.table), seed, self.rng)
        return super().reset(seed, task=task)

    async def astep(self, action: str) -> Step:
        return answered(await super().astep(action))

    def _check_correct(self, model_code: str) -> bool:
        """Say whether a program passes the tests of the problem that is posed."""
        graded = grade(self.row, model_code, limits=Limits(*self.limits), options=self.sandbox)
        return wait_for(graded).success
