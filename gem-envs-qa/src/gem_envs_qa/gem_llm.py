"""`QaEnv`, `em_check`, `normalize_answer`: gem-llm's `gem.envs.qa_env` and `gem.utils.qa_em`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from gem.compat import (
    TaskOrder,
    answered,
    extract_last_boxed_answer,
    extract_last_tagged_answer,
    table_arguments,
)
from gem.content import Observation
from gem.env import Step
from gem_envs_qa.normalising import normal_form
from gem_envs_qa.question import Question
from gem_envs_qa.scoring import score

__all__ = ["QaEnv", "em_check", "normalize_answer"]

normalize_answer = normal_form


def em_check(prediction: str, golden_answers: str | Sequence[str]) -> bool:
    """Say whether an answer is one of the accepted ones, by exact match of their forms.

    >>> em_check("the Cat", ["cat"]), em_check("a dog", "cat")
    (True, False)
    """
    accepted = [golden_answers] if isinstance(golden_answers, str) else list(golden_answers)
    return score(prediction, accepted).em == 1.0


class _Prompts(Sequence[Mapping[str, Any]]):
    """The rows of a table as gem-llm showed them to its subclasses: prompts with answers."""

    def __init__(self, env: QaEnv, order: Sequence[int]) -> None:
        self._env = env
        self._order = order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, place: Any) -> Any:
        task = self._order[place]
        answers = list(self._env.table[task].answers)
        return {
            self._env.question_key: self._env.prompt_of(task),
            self._env.answer_key: answers,
        }

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (self[place] for place in range(len(self)))

    def shuffle(self, seed: int | None = None) -> _Prompts:
        """Return the rows in another order, which the seed fixes."""
        return _Prompts(self._env, random.Random(seed).sample(self._order, len(self._order)))


class QaEnv(TaskOrder, Question):
    r"""A question of a data set, answered in `<answer>` or, with `extract_boxed`, in a `\boxed{}`.

    `dataset` is the table itself, or several by the name of their split; `dataset_name` is one of
    the Hugging Face Hub. `reset()` takes every question once before any again, in an order that
    `seed` fixes. `load_from_cache_file` is ignored. A subclass that chooses for itself has
    `dataset`, rows with the prompt under `question_key`, and `idx`, `epoch` and `extractor`.
    """

    shared: ClassVar[Sequence[str]] = (*Question.shared, "dataset", "extractor")
    dataset: _Prompts

    def __init__(
        self,
        dataset_name: str | None = "",
        split: str | None = None,
        dataset: Any = None,
        question_key: str = "question",
        answer_key: str = "answer",
        seed: int = 0,
        extract_boxed: bool = False,
        load_from_cache_file: bool = True,
        **_: Any,
    ) -> None:
        super().__init__(
            **table_arguments(
                dataset,
                dataset_name=dataset_name,
                split=split,
                fields={"question": question_key, "answer": answer_key},
            ),
            shows_context=False,
            answer_form="boxed" if extract_boxed else "answer",
        )
        self.seed = seed
        self.question_key = question_key
        self.answer_key = answer_key
        self.idx = 0
        self.epoch = 0
        self.extractor: Callable[[str], str | None] = (
            extract_last_boxed_answer if extract_boxed else extract_last_tagged_answer
        )
        self.dataset = _Prompts(self, range(len(self.table)))
        self.begin(seed)

    def reset(
        self, seed: int | None = None, *, task: int | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Pose question `task`, or the next one."""
        if task is None:
            task = self.next_task(len(self.table), seed, self.rng)
        return super().reset(seed, task=task)

    def step(self, action: str) -> Step:
        return answered(super().step(action))

    def prompt_of(self, task: int) -> str:
        """Return the prompt of any question; the one that is posed stays posed."""
        posed = self.task
        self.task = task
        try:
            return f"{self.pose()}\n\n{self.instruction}"
        finally:
            self.task = posed

    @staticmethod
    def check_correct(model_answer: str, gt_answer: Any) -> bool:
        """Say whether an answer is one of the accepted ones."""
        return em_check(model_answer, gt_answer)
