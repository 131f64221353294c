"""`MathEnv`: the class of gem-llm's `gem.envs.math_env`, over our data and grader."""

from __future__ import annotations

from typing import Any

from gem.compat import TaskOrder, answered, table_arguments
from gem.content import Observation
from gem.env import Step
from gem_envs_math.dataset_math import DatasetMath
from gem_envs_math.judging import JUDGES

__all__ = ["MathEnv"]


class MathEnv(TaskOrder, DatasetMath):
    r"""A problem of a data set, posed as it is written there, answered in a `\boxed{}`.

    `dataset` is the table itself, or several by the name of their split; `dataset_name` is one of
    the Hugging Face Hub. `reset()` takes every problem once before any again, in an order that
    `seed` fixes; `reset(idx=i)` takes problem i. `use_mp` is ignored: answers are always graded
    in other processes where that is needed.
    """

    instruction = ""

    def __init__(
        self,
        dataset_name: str | None = "",
        split: str | None = None,
        dataset: Any = None,
        question_key: str = "problem",
        answer_key: str = "answer",
        seed: int = 0,
        use_mp: bool = True,
        **_: Any,
    ) -> None:
        super().__init__(
            **table_arguments(
                dataset,
                dataset_name=dataset_name,
                split=split,
                fields={"question": question_key, "answer": answer_key},
            ),
        )
        self.seed = seed
        self.begin(seed)

    def reset(
        self,
        seed: int | None = None,
        idx: int | None = None,
        *,
        task: int | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Pose problem `idx` (or `task`), or the next one."""
        chosen = task if idx is None else idx
        if chosen is None:
            chosen = self.next_task(len(self.table), seed, self.rng)
        return super().reset(seed, task=chosen)

    def step(self, action: str) -> Step:
        return answered(super().step(action))

    @staticmethod
    def check_correct(model_answer: str, gt_answer: str) -> bool:
        """Say whether an answer is right."""
        return JUDGES["math"](model_answer, str(gt_answer)).outcome == "right"
