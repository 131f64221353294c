"""One question of Reasoning Gym, one answer. Knows nothing about where questions come from."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from gem.content import Observation
from gem.env import Env, Step
from gem.errors import BadArguments, DataError
from gem_envs_reasoning.answers import answer_in, written
from gem_envs_reasoning.library import INDICES, Item, Source

__all__ = ["INSTRUCTIONS", "AnswerForm", "Question", "Split"]

AnswerForm = Literal["answer", "boxed"]

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


class Question(Env):
    r"""One question, one turn. A subclass writes `draw_source` and `source_of`.

    The reward is the task's score, between 0 and 1, and the episode is a success at exactly 1.0;
    with `binary` the reward is 1.0 or 0.0. An answer that is neither in `<answer>` nor in
    `\boxed{}` pays `format_error_reward`; `answer_form` says for which of the two the prompt asks.
    The indices of the split "train" are the lower half
    of all, those of "eval" the upper half: no item is in both.
    """

    max_turns = 1
    single_turn = True
    reward_range = (0.0, 1.0)
    shared: ClassVar[tuple[str, ...]] = ("_item",)
    _item: Item | None = None

    def __init__(
        self,
        split: Split,
        binary: bool,
        format_error_reward: float,
        answer_form: AnswerForm = "answer",
    ) -> None:
        if not -1.0 <= format_error_reward <= 0.0:
            raise BadArguments(
                f"format_error_reward={format_error_reward} was asked for. It must lie between "
                "-1 and 0, so that an answer that cannot be read never pays.",
                subject=type(self).__name__,
            )
        if split not in _FIRST:
            raise BadArguments(
                f"split={split!r} was asked for. Choose 'train' or 'eval'.",
                subject=type(self).__name__,
            )
        if answer_form not in INSTRUCTIONS:
            raise BadArguments(
                f"answer_form={answer_form!r} was asked for. Choose 'answer' or 'boxed'.",
                subject=type(self).__name__,
            )
        self.split = split
        self.binary = binary
        self.format_error_reward = format_error_reward
        self.answer_form = answer_form
        self.reward_range = (format_error_reward, 1.0)
        self.name, self.index = "", -1

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        """Pose a question that `rng` draws, from the indices of the split."""
        item = self._drawn(self.rng, self.draw_source(self.rng))
        self.name, self.index, self._item = item.name, item.number, item
        return f"{item.question}\n\n{INSTRUCTIONS[self.answer_form]}", self._facts()

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

    def step(self, action: str) -> Step:
        answer = answer_in(action)
        if answer is None:
            info = {
                "success": False,
                "reward_parts": {"format_error": self.format_error_reward},
                "action_error": "format",
                **self._facts(),
            }
            return Step(_UNREADABLE[self.answer_form], self.format_error_reward, True, False, info)
        item = self.item
        verdict = self.source_of(item.name).verdict(answer, item)
        is_right = verdict.score == 1.0
        reward = float(is_right) if self.binary else verdict.score
        info = {"success": is_right, "reward_parts": {"answer": reward}, **self._facts()}
        if verdict.note:
            info["note"] = verdict.note
        said = f"The answer is {'right' if is_right else 'wrong'}."
        return Step(said, reward, True, False, info)

    def sample_action(self) -> str:
        """Return the solution of another question of the task: well formed, and right by luck."""
        other = self._drawn(self.sample_rng, self.source_of(self.name))
        return written(other.solution or str(self.sample_rng.randrange(1_000)), self.answer_form)

    def solve(self) -> str | None:
        """Return a right answer; None for the tasks that have none on record."""
        solution = self.item.solution
        return None if solution is None else written(solution, self.answer_form)

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

    def _facts(self) -> dict[str, Any]:
        return {"name": self.name, "index": self.index}
