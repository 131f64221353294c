"""Problems from a data set: of the hub, of a local file, or in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gem.errors import BadArguments
from gem_envs_math.number_problem import NumberProblem
from gem_envs_math.rows import Keys, Problem
from gem_envs_math.tables import Rows, load_file, load_hub, load_memory

__all__ = ["DatasetMath"]


class DatasetMath(NumberProblem):
    r"""One problem of a data set, whose answers are numbers.

    The table is `data`, the path of a .jsonl, .csv or .parquet file, a `datasets.Dataset` or a
    list of dictionaries; without it, the data set `dataset_name` of the Hugging Face Hub, in
    which `split` chooses where there are several. Every instance in the process shares one
    table. Raises DataError where it is absent or malformed, here and not at `reset`.

    >>> env = DatasetMath(data=[{"problem": "What is 1 + 1?", "answer": 2}])
    >>> observation, info = env.reset(task=0)
    >>> env.step(r"\boxed{2}").info["success"]
    True
    """

    shared = ("table",)

    def __init__(
        self,
        *,
        dataset_name: str | None = None,
        split: str | None = None,
        question_key: str = "problem",
        answer_key: str = "answer",
        data: str | Path | Rows | None = None,
        format_error_reward: float = 0.0,
    ) -> None:
        super().__init__(format_error_reward)
        keys = Keys(question_key, answer_key)
        if isinstance(data, (str, Path)):
            self.table = load_file(data, keys)
        elif data is not None:
            self.table = load_memory(data, keys)
        elif dataset_name is not None:
            self.table = load_hub(dataset_name, split, keys)
        else:
            raise BadArguments(
                "DatasetMath was made without a data set. Give data=, a path or a table, or "
                "dataset_name=, a data set of the hub.",
                subject="DatasetMath",
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
