"""Problems from a data set: of the hub, of a local file, or in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from gem import DatasetEnv
from gem.content import Observation
from gem.data import RowKind, TableArguments
from gem_envs_math.judging import Grader
from gem_envs_math.problem import MathProblem
from gem_envs_math.rows import PROBLEMS, Problem

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["DatasetMath"]


class DatasetMath(MathProblem, DatasetEnv[Problem]):
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

    kinds: ClassVar[Mapping[Grader, RowKind[Problem]]] = PROBLEMS

    def __init__(
        self,
        *,
        grader: Grader = "math",
        format_error_reward: float = 0.0,
        **table: Unpack[TableArguments],
    ) -> None:
        kind = self.kinds[grader]
        super().__init__(grader, kind=kind, format_error_reward=format_error_reward, **table)

    def pose(self) -> Observation:
        return self.row.question

    def gold(self) -> str:
        return self.row.answer
