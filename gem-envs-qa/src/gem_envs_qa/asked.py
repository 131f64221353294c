"""A question with one final answer: one turn, read out of the form that the prompt asks for.

Knows nothing about where questions come from or how answers are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from gem.content import Observation
from gem.data import Table
from gem.env import Env
from gem.errors import BadArguments
from gem.parsing import AnswerForm, answer_example, find_answer, write_answer
from gem.step import Step

__all__ = ["Asked", "Verdict"]

Row = TypeVar("Row")


class Verdict(NamedTuple):
    """What an answer is worth, and what `info` says of it. `reward` is None if it is no answer."""

    reward: float | None
    is_right: bool
    facts: dict[str, Any]


class Asked(Env, Generic[Row]):
    """One row of a table, one turn. A subclass writes `prompt`, `verdict`, `gold` and `guess`.

    An answer that is not in the form that was asked for, or that `verdict` takes for none, pays
    `format_error_reward`, which is between -1 and 0.
    """

    max_turns = 1
    single_turn = True
    shared: ClassVar[Sequence[str]] = ("table",)

    def __init__(
        self, table: Table[Row], *, answer_form: AnswerForm, format_error_reward: float
    ) -> None:
        if not -1.0 <= format_error_reward <= 0.0:
            raise BadArguments(
                f"format_error_reward={format_error_reward} was asked for. It must lie between "
                "-1 and 0, so that an answer that cannot be read never pays.",
                subject=type(self).__name__,
            )
        self.table = table
        self.answer_form = answer_form
        self.format_error_reward = format_error_reward
        self.reward_range = (format_error_reward, 1.0)
        self.num_tasks = len(table)
        self.task = 0

    def reset(
        self, seed: int | None = None, *, task: int | None = None, **options: Any
    ) -> tuple[Observation, dict[str, Any]]:
        """Pose row `task`, counted from 0, or one that `rng` draws."""
        if options:
            raise BadArguments(
                f"{type(self).__name__} was reset with {', '.join(options)}. It takes seed and "
                "task; pass everything else to gem.make.",
                subject=type(self).__name__,
            )
        self.task = self.pick_task(task)
        return self.prompt(), {"task": self.task}

    def step(self, action: str) -> Step:
        answer = find_answer(action, self.answer_form)
        verdict = Verdict(None, False, {}) if answer is None else self.verdict(answer)
        info: dict[str, Any] = {"success": verdict.is_right, **verdict.facts, "task": self.task}
        if verdict.reward is None:
            reward, told = self.format_error_reward, f"No answer was found. {self.expected()}"
            info.update(reward_parts={"format_error": reward}, action_error="format")
        else:
            reward = verdict.reward
            told = f"The answer is {'right' if verdict.is_right else 'wrong'}."
            info["reward_parts"] = {"answer": reward}
        return Step(told, reward, True, False, info)

    def sample_action(self) -> str:
        return write_answer(self.guess(), self.answer_form)

    def solve(self) -> str | None:
        return write_answer(self.gold(), self.answer_form)

    def row(self) -> Row:
        """Return the row of this episode."""
        return self.table[self.task]

    def shape(self) -> str:
        """Return the form of an answer, to be shown in the prompt."""
        return answer_example(self.answer_form)

    def prompt(self) -> str:
        """Return the first observation."""
        raise NotImplementedError

    def expected(self) -> str:
        """Return one sentence on the answer that is expected."""
        raise NotImplementedError

    def verdict(self, answer: str) -> Verdict:
        """Grade an answer that was found in the form that was asked for."""
        raise NotImplementedError

    def gold(self) -> str:
        """Return a right answer."""
        raise NotImplementedError

    def guess(self) -> str:
        """Draw a readable answer from `sample_rng`."""
        raise NotImplementedError
