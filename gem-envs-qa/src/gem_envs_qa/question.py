"""Open questions from a data set, each with a list of accepted answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gem import Grade
from gem.data import TableArguments
from gem.parsing import AnswerForm
from gem_envs_qa.asked import Asked
from gem_envs_qa.layout import laid_out
from gem_envs_qa.rows import Open, open_kind
from gem_envs_qa.scoring import Metric, score

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Question"]

_GUESSES = ("1912", "Paris", "William Shakespeare", "the Danube", "Mexico", "oxygen", "blue")


class Question(Asked[Open]):
    """One question, answered in a few words: exact match or F1 with the accepted answers.

    Rows have a `question` and an `answer`, a text or a list of accepted ones, and may have a
    `context`, which is left alone without `shows_context`. They come from `data`, the path of a
    file or rows in memory, or else from `source`, a data set of the Hugging Face Hub; `fields`
    maps these names to the data's. `metric` is what is paid, "em" or "f1"; `info` has both, and
    `info["success"]` is exact match. `answer_form` is "answer" for `<answer>...</answer>` or
    "boxed" for a box. `gem.data.load_table` tells the rest. Raises DataError where the data is
    absent or a row does not fit, here and not at `reset`.

    >>> env = Question(data=[{"question": "Who wrote Emma?", "answer": ["Jane Austen", "Austen"]}])
    >>> observation, info = env.reset(task=0)
    >>> env.step("<answer>jane austen</answer>").info["em"]
    1.0
    """

    wanted = "a name, a number, yes or no, or a few words"
    expected = "a few words"

    def __init__(
        self,
        *,
        metric: Metric = "em",
        shows_context: bool = True,
        answer_form: AnswerForm = "answer",
        format_error_reward: float = 0.0,
        **table: Unpack[TableArguments],
    ) -> None:
        super().__init__(
            kind=open_kind(shows_context=shows_context),
            answer_form=answer_form,
            format_error_reward=format_error_reward,
            **table,
        )
        self.metric = metric

    def pose(self) -> str:
        row = self.row
        return laid_out(row.question, context=row.context)

    def grade(self, answer: str) -> Grade:
        if not answer:
            return Grade(None, info={"em": 0.0, "f1": 0.0})
        em, f1 = score(answer, self.row.answers)
        return Grade(em if self.metric == "em" else f1, em == 1.0, info={"em": em, "f1": f1})

    def gold(self) -> str:
        return min(self.row.answers, key=len)

    def guess(self) -> str:
        return self.sample_rng.choice(_GUESSES)
