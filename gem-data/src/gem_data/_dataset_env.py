"""The rows of a table as questions: an environment over a data set, a file or a list.

Knows nothing about how tables are loaded (`gem_data._loading`) or how answers are read
(`gem.SingleTurnEnv`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple

from gem import SingleTurnEnv
from gem.content import Observation
from gem.parsing import AnswerForm
from gem_data._loading import load_table
from gem_data._rows import Misfit, RowKind
from gem_data._table import Table
from gem_data._table_arguments import TableArguments
from gem_data._texts import is_text

if TYPE_CHECKING:
    from typing_extensions import TypeVar, Unpack

    Row = TypeVar("Row", default=Any)
else:
    from typing import TypeVar  # which knows no default before Python 3.13

    Row = TypeVar("Row")

__all__ = ["QUESTIONS", "DatasetEnv", "QuestionRow"]


class QuestionRow(NamedTuple):
    """A row of the kind that a `DatasetEnv` poses unless it states another."""

    question: str
    answer: str


def _read(row: Mapping[str, Any]) -> QuestionRow:
    question = row["question"]
    answer = row["answer"]
    if not is_text(question):
        raise Misfit("question", question, "text")
    if isinstance(answer, (bool, int, float)):
        answer = str(answer)
    if not is_text(answer):
        raise Misfit("answer", row["answer"], "a text or a number")
    return QuestionRow(question.strip(), answer.strip())


QUESTIONS = RowKind("question", read=_read, needs=("question", "answer"))
"""Rows with a `question`, a text, and its `answer`, a text or a number."""


class DatasetEnv(SingleTurnEnv, Generic[Row]):
    r"""One row of a table, one turn. A row is a task: `reset(task=i)` poses row `i`, from 0.

    Rows come from `data`, the path of a .jsonl, .json, .csv or .parquet file or rows in memory, or
    else from `source`, a data set of the Hugging Face Hub. `fields` maps the fields of `kind` to
    the data's names, `split`, `limit` and `streaming` choose rows: `gem.data.load_table` tells the
    rest. Every instance of a process shares one table, which snapshots leave out.

    As it is, the class poses rows with a `question` and an `answer`. A subclass states another
    `kind`, or overrides what `SingleTurnEnv` lets an author write, and finds its row in
    `self.row`. Raises DataError where the data is absent or a row does not fit, here and not at
    `reset`.

    >>> env = DatasetEnv(data=[{"question": "What is 1 + 1?", "answer": 2}])
    >>> observation, info = env.reset(task=0)
    >>> env.step(r"It is \boxed{2}.").reward
    1.0
    """

    kind: ClassVar[RowKind[Any]] = QUESTIONS
    """What the environment needs of a row, where the constructor is given no other kind."""
    # Rows are read-only and may be millions: a snapshot leaves them out, and a fork shares them.
    shared: ClassVar[Sequence[str]] = ("table",)

    def __init__(
        self,
        *,
        kind: RowKind[Row] | None = None,
        format_error_reward: float | None = None,
        answer_form: AnswerForm | None = None,
        **table: Unpack[TableArguments],
    ) -> None:
        super().__init__(format_error_reward=format_error_reward, answer_form=answer_form)
        self.table: Table[Row] = load_table(self.kind if kind is None else kind, **table)
        self.num_tasks = len(self.table)
        self.task = 0  # of this episode: a reset writes it, and a snapshot holds it

    @property
    def row(self) -> Row:
        """The row of this episode, read where it lies at every access."""
        return self.table[self.task]

    def pose(self) -> Observation:
        """Return this row's question."""
        row = self.row
        return row.question if isinstance(row, QuestionRow) else super().pose()

    def gold(self) -> str | float | None:
        """Return this row's answer."""
        row = self.row
        return row.answer if isinstance(row, QuestionRow) else super().gold()
