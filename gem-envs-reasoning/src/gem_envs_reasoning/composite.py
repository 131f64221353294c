"""A weighted mix of Reasoning Gym's tasks."""

from __future__ import annotations

import math
import random
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from gem.errors import BadArguments
from gem.parsing import AnswerForm
from gem_envs_reasoning.library import Source, source
from gem_envs_reasoning.listing import NAMES
from gem_envs_reasoning.question import Question, Split

__all__ = ["Composite", "Part"]


class Part(BaseModel):
    """One task of a mix: its weight, and what `Task` takes besides its name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    weight: float = Field(default=1.0, ge=0.0, allow_inf_nan=False)
    level: int | dict[str, int] | None = None
    config: dict[str, Any] = {}


class Composite(Question):
    """Questions of several tasks, each drawn as often as its weight says.

    Without `datasets` it mixes every task alike. A task's generator is made when it is first
    drawn, and `info["name"]` says whose question it is.
    """

    shared: ClassVar[tuple[str, ...]] = (*Question.shared, "_parts", "_weights")

    def __init__(
        self,
        *,
        datasets: list[Part] | None = None,
        split: Split = "train",
        binary: bool = False,
        format_error_reward: float = 0.0,
        answer_form: AnswerForm = "answer",
    ) -> None:
        super().__init__(split, binary, format_error_reward, answer_form)
        listed = [Part(name=name) for name in NAMES] if datasets is None else datasets
        self._parts = {part.name: part for part in listed}
        self._weights = [part.weight for part in listed]
        if len(self._parts) < len(listed) or not math.fsum(self._weights) > 0:
            raise BadArguments(
                f"rg:composite was given {len(listed)} datasets with the weights {self._weights}. "
                "It mixes one or more tasks, each named once, with a sum of weights above 0.",
                subject="rg:composite",
            )
        if datasets is not None:
            for part in datasets:
                self.source_of(part.name)  # raises on what cannot be made

    def draw_source(self, rng: random.Random) -> Source:
        [name] = rng.choices(list(self._parts), self._weights)
        return self.source_of(name)

    def source_of(self, name: str) -> Source:
        part = self._parts[name]
        return source(name, part.level, part.config)
