"""Open questions from a data set, each with a list of accepted answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gem.data import DataSource, Rows
from gem.parsing import AnswerForm
from gem_envs_qa.asked import Asked, Verdict
from gem_envs_qa.layout import laid_out
from gem_envs_qa.rows import Open, open_kind
from gem_envs_qa.scoring import Metric, score
from gem_envs_qa.tables import table_of

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

    def __init__(
        self,
        *,
        source: DataSource | None = None,
        data: str | Path | Rows | None = None,
        fields: Mapping[str, str] | None = None,
        split: str | None = None,
        limit: int | None = None,
        streaming: bool = False,
        metric: Metric = "em",
        shows_context: bool = True,
        answer_form: AnswerForm = "answer",
        format_error_reward: float = 0.0,
    ) -> None:
        table = table_of(
            open_kind(shows_context=shows_context),
            source=source,
            data=data,
            fields=fields,
            split=split,
            limit=limit,
            streaming=streaming,
        )
        super().__init__(table, answer_form=answer_form, format_error_reward=format_error_reward)
        self.metric = metric

    def prompt(self) -> str:
        row = self.row()
        instruction = (
            f"Put your final answer in {self.shape()}: a name, a number, yes or no, or a few "
            "words, and nothing else. Only the last one is graded."
        )
        return laid_out(row.question, instruction, context=row.context)

    def expected(self) -> str:
        return f"Expected a few words inside {self.shape()}."

    def verdict(self, answer: str) -> Verdict:
        if not answer:
            return Verdict(None, False, {"em": 0.0, "f1": 0.0})
        em, f1 = score(answer, self.row().answers)
        return Verdict(em if self.metric == "em" else f1, em == 1.0, {"em": em, "f1": f1})

    def gold(self) -> str:
        return min(self.row().answers, key=len)

    def guess(self) -> str:
        return self.sample_rng.choice(_GUESSES)
