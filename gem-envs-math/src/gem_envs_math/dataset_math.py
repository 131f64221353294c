"""Problems from a data set: of the hub, of a local file, or in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gem.data import DataSource, Rows, load_table
from gem_envs_math.number_problem import NumberProblem
from gem_envs_math.rows import PROBLEMS, Problem

__all__ = ["DatasetMath"]


class DatasetMath(NumberProblem):
    r"""One problem of a data set, whose answers are numbers.

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

    def __init__(
        self,
        *,
        source: DataSource | None = None,
        data: str | Path | Rows | None = None,
        fields: Mapping[str, str] | None = None,
        split: str | None = None,
        limit: int | None = None,
        streaming: bool = False,
        format_error_reward: float = 0.0,
    ) -> None:
        super().__init__(format_error_reward)
        self.table = load_table(
            PROBLEMS,
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
