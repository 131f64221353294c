"""One task of Reasoning Gym."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from gem.parsing import AnswerForm
from gem_envs_reasoning.library import Source, source
from gem_envs_reasoning.question import Question, Split

__all__ = ["Task"]


class Task(Question):
    """Questions of one task, at a level of its curriculum or with values of its configuration.

    `level` is one for every attribute of the curriculum, or a dictionary with some of them. All
    other keyword arguments are fields of the task's configuration, and stand over the level's.

    >>> env = Task(name="leg_counting", level=1, max_animals=4)  # doctest: +SKIP
    """

    shared: ClassVar[tuple[str, ...]] = (*Question.shared, "_source")

    def __init__(
        self,
        *,
        name: str,
        level: int | dict[str, int] | None = None,
        split: Split = "train",
        binary: bool = False,
        format_error_reward: float = 0.0,
        answer_form: AnswerForm = "answer",
        **config: Any,
    ) -> None:
        super().__init__(split, binary, format_error_reward, answer_form)
        self._source = source(name, level, config)

    def draw_source(self, rng: random.Random) -> Source:
        return self._source

    def source_of(self, name: str) -> Source:
        return self._source
