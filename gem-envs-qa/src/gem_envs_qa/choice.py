"""Questions from a data set with a few options, of which one is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gem import Grade
from gem.data import TableArguments
from gem.errors import BadArguments
from gem.parsing import AnswerForm
from gem_envs_qa.asked import Asked
from gem_envs_qa.layout import laid_out
from gem_envs_qa.options import LETTERS, are_distinct, meant
from gem_envs_qa.rows import Chosen, chosen_kind

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Choice"]


class Choice(Asked[Chosen]):
    """One question with options, answered by the letter or the text of one.

    Rows have a `question`, `options` (a list of texts, with or without letters) and an `answer`
    (the letter or the text of the right one), and may have a `context`. With `options` here, all
    rows have these, and none of their own. How an answer is read is in `gem_envs_qa.options`.
    The other arguments and errors are as for `Question`.

    >>> rows = [{"question": "Is ice cold?", "answer": True}]
    >>> env = Choice(data=rows, options=("True", "False"))
    >>> observation, info = env.reset(task=0)
    >>> env.step("<answer>A) True</answer>").reward
    1.0
    """

    wanted = expected = "the letter or the text of one option"

    def __init__(
        self,
        *,
        options: tuple[str, ...] | None = None,
        shows_context: bool = True,
        answer_form: AnswerForm = "answer",
        format_error_reward: float = 0.0,
        **table: Unpack[TableArguments],
    ) -> None:
        super().__init__(
            kind=chosen_kind(_checked(options), shows_context=shows_context),
            answer_form=answer_form,
            format_error_reward=format_error_reward,
            **table,
        )

    def pose(self) -> str:
        row = self.row
        return laid_out(row.question, context=row.context, options=row.options)

    def grade(self, answer: str) -> Grade:
        row = self.row
        place = meant(answer, row.options)
        if place is None:
            return Grade(None, info={"chosen": None})
        is_right = place == row.right
        return Grade(float(is_right), is_right, info={"chosen": LETTERS[place]})

    def gold(self) -> str:
        return LETTERS[self.row.right]

    def guess(self) -> str:
        return LETTERS[self.sample_rng.randrange(len(self.row.options))]


def _checked(options: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if options is None:
        return None
    if not 2 <= len(options) <= len(LETTERS) or not are_distinct(options):
        raise BadArguments(
            f"Choice was given options={options!r:.100}. Give 2 to 26 texts that differ, and none "
            "that is a letter of another.",
            subject="Choice",
        )
    return tuple(options)
