"""A question of a table, whose answer is read in the form that the prompt asks for.

Knows nothing about where questions come from or how answers are compared.
"""

from __future__ import annotations

from typing import TypeVar

from gem import DatasetEnv, Grade
from gem.parsing import answer_example

__all__ = ["Asked"]

Row = TypeVar("Row")


class Asked(DatasetEnv[Row]):
    """One row of a table, one turn. A subclass writes `pose`, `grade`, `gold` and `guess`."""

    wanted: str
    """What an answer may be, as the prompt says it."""
    expected: str
    """The same, as it is said of an answer that could not be read."""

    @property
    def instruction(self) -> str:
        return (
            f"Put your final answer in {answer_example(self.answer_form)}: {self.wanted}, and "
            "nothing else. Only the last one is graded."
        )

    @property
    def format_error_feedback(self) -> str:
        form = answer_example(self.answer_form)
        return f"No answer was found. Expected {self.expected} inside {form}."

    def unanswered(self) -> Grade:
        return Grade(None)

    def sample_action(self) -> str:
        return self.write_answer(self.guess())

    def guess(self) -> str:
        """Draw a readable answer from `sample_rng`."""
        raise NotImplementedError
