"""One question of Reasoning Gym, one answer. Knows nothing about where questions come from."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from gem import Grade, SingleTurnEnv
from gem.errors import BadArguments, DataError
from gem.parsing import AnswerForm
from gem_envs_reasoning.answers import answer_in, written
from gem_envs_reasoning.library import INDICES, Item, Source

__all__ = ["INSTRUCTIONS", "Question", "Split"]

INSTRUCTIONS: Mapping[AnswerForm, str] = {
    "answer": (
        "Write your final answer, in the form that is asked for above, between <answer> and "
        "</answer>. Only the last one is read."
    ),
    "boxed": (
        "Write your final answer, in the form that is asked for above, inside \\boxed{}. Only the "
        "last one is read."
    ),
}

Split = Literal["train", "eval"]

_FIRST: dict[Split, int] = {"train": 0, "eval": INDICES // 2}
_MOST_DRAWS = 100
_UNREADABLE: Mapping[AnswerForm, str] = {
    "answer": "No answer was found. Expected one between <answer> and </answer>.",
    "boxed": "No answer was found. Expected one inside \\boxed{}.",
}


class Question(SingleTurnEnv):
    r"""One question, one turn. A subclass writes `draw_source` and `source_of`.

    The reward is the task's score, between 0 and 1, and the episode is a success at exactly 1.0;
    with `binary` the reward is 1.0 or 0.0. An answer that is neither in `<answer>` nor in
    `\boxed{}` pays `format_error_reward`; `answer_form` says for which of the two the prompt asks.
    The indices of the split "train" are the lower half of all, those of "eval" the upper half: no
    item is in both.
    """

    shared: ClassVar[tuple[str, ...]] = ("_item",)
    _item: Item | None = None

    def __init__(
        self,
        split: Split,
        binary: bool,
        format_error_reward: float,
        answer_form: AnswerForm = "answer",
    ) -> None:
        super().__init__(format_error_reward=format_error_reward, answer_form=answer_form)
        if split not in _FIRST:
            raise BadArguments(
                f"split={split!r} was asked for. Choose 'train' or 'eval'.",
                subject=type(self).__name__,
            )
        self.split = split
        self.binary = binary
        self.name = ""
        self.index = -1

    @property
    def instruction(self) -> str:
        return INSTRUCTIONS[self.answer_form]

    @property
    def format_error_feedback(self) -> str:
        return _UNREADABLE[self.answer_form]

    def pose(self) -> str:
        """Draw a question from the indices of the split."""
        item = self._drawn(self.rng, self.draw_source(self.rng))
        self.name = item.name
        self.index = item.number
        self._item = item
        return item.question

    def _drawn(self, rng: random.Random, source: Source) -> Item:
        for _ in range(_MOST_DRAWS):
            item = source.item(_FIRST[self.split] + rng.randrange(INDICES // 2))
            if item is not None:
                return item
        raise DataError(
            f"rg:{source.name} was to pose a question, and reasoning-gym failed to generate one "
            f"{_MOST_DRAWS} times. Choose another level or other values.",
            source="reasoning-gym",
        )

    def find_answer(self, action: str) -> str | None:
        return answer_in(action)

    def write_answer(self, answer: str) -> str:
        return written(answer, self.answer_form)

    def grade(self, answer: str) -> Grade:
        verdict = self.source_of(self.name).verdict(answer, self.item)
        is_right = verdict.score == 1.0
        reward = float(is_right) if self.binary else verdict.score
        return Grade(reward, is_right, info={"note": verdict.note} if verdict.note else {})

    def unanswered(self) -> Grade:
        return Grade(None)

    def gold(self) -> str | None:
        """Return a right answer; None for the tasks that have none on record."""
        return self.item.solution

    def sample_action(self) -> str:
        """Return the solution of another question of the task: well formed, and right by luck."""
        other = self._drawn(self.sample_rng, self.source_of(self.name))
        return self.write_answer(other.solution or str(self.sample_rng.randrange(1_000)))

    @property
    def item(self) -> Item:
        """The question that is posed. Snapshots keep its index, and it is generated again."""
        if self._item is None or (self._item.name, self._item.number) != (self.name, self.index):
            self._item = self.source_of(self.name).item(self.index)
        assert self._item is not None
        return self._item

    def draw_source(self, rng: random.Random) -> Source:
        """Return where an episode's question comes from, drawing from `rng` if need be."""
        raise NotImplementedError

    def source_of(self, name: str) -> Source:
        """Return the source of a task that `draw_source` may have chosen."""
        raise NotImplementedError

    def episode_info(self) -> dict[str, Any]:
        return {"name": self.name, "index": self.index}
