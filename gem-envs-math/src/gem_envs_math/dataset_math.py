"""Problems from a data set: of the hub, of a local file, or in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from gem.data import DataSource, RowKind, Rows, load_table
from gem_envs_math.judging import Grader
from gem_envs_math.problem import MathProblem
from gem_envs_math.rows import PROBLEMS, Problem

__all__ = ["DatasetMath"]


class DatasetMath(MathProblem):
    r"""One problem of a data set.

    Its answers are any mathematics, or with `grader="number"` one number each: that needs no
    math-verify, and refuses every answer with words or units in it.

    The table is `data`, the path of a file, a `datasets.Dataset` or a list of dictionaries;
    without it, the data set `source` of the Hugging Face Hub. `fields` says where its `question`
    and `answer` are; `gem.data.load_table` tells the rest. Every instance in the process shares
    one table. Raises DataError where it is absent or malformed, here and not at `reset`.

    >>> env = DatasetMath(data=[{"question": "What is 1 + 1?", "answer": 2}])
    >>> observation, info = env.reset(task=0)
    >>> env.step(r"\boxed{2}").info["success"]
    True
    """

    shared = ("table",)
    kinds: ClassVar[Mapping[Grader, RowKind[Problem]]] = PROBLEMS

    def __init__(
        self,
        *,
        grader: Grader = "math",
        source: DataSource | None = None,
        data: str | Path | Rows | None = None,
        fields: Mapping[str, str] | None = None,
        split: str | None = None,
        limit: int | None = None,
        streaming: bool = False,
        format_error_reward: float = 0.0,
    ) -> None:
        super().__init__(grader, format_error_reward)
        self.table = load_table(
            self.kinds[grader],
            source=source,
            data=data,
            fields=fields,
            split=split,
            limit=limit,
            streaming=streaming,
        )
        self.num_tasks = len(self.table)
        self.task = 0

    def pose(self, task: int | None) -> None:
        self.task = self.pick_task(task)

    def question(self) -> str:
        return self._problem().question

    def gold(self) -> str:
        return self._problem().answer

    def facts(self) -> dict[str, Any]:
        return {"task": self.task}

    def _problem(self) -> Problem:
        return self.table[self.task]
