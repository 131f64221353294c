r"""A question with one answer in a `\boxed{}`: one turn, judged by a grader.

Knows nothing about where questions come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gem import Grade, SingleTurnEnv
from gem.registry import check_requirements
from gem_envs_math.answers import boxed
from gem_envs_math.grading import Verdict, extract
from gem_envs_math.judging import JUDGES, REQUIRES, Grader

__all__ = ["INSTRUCTIONS", "MathProblem"]

INSTRUCTIONS: Mapping[Grader, str] = {
    "math": "Put your final answer in \\boxed{}. Only the last \\boxed{} is graded.",
    "number": (
        "Put your final answer in \\boxed{}: one number, without units or words. "
        "Only the last \\boxed{} is graded."
    ),
}

_UNDECIDED = "The answer could not be judged: too much work to tell what it is."
_UNREADABLE: Mapping[Grader, str] = {
    "math": "The answer could not be read. Expected an answer inside \\boxed{}.",
    "number": (
        "The answer could not be read. Expected one number, without units or words, inside "
        "\\boxed{}."
    ),
}
_NO_BOX = Verdict("unreadable", "no box")
_MOST_SHOWN = 200


class MathProblem(SingleTurnEnv):
    r"""One question, one turn: 1.0 for the right answer in the last `\boxed{}`, else 0.0.

    An answer that cannot be read pays `format_error_reward` instead. One that is undecided pays
    0.0: `info["verdict"]` names it, as it does "right", "wrong" and "unreadable", and
    `info["how"]` says how that was found. `info["answer"]` is what was read, up to 200
    characters, and `info["gold"]` the right answer. A subclass writes `pose` and `gold`.

    `arguments` are those of the next class among the bases: of `SingleTurnEnv` or `DatasetEnv`.
    """

    def __init__(self, grader: Grader, **arguments: Any) -> None:
        check_requirements(REQUIRES[grader], subject=f"The grader {grader!r}", of="gem-envs-math")
        super().__init__(**arguments)
        self.grader: Grader = grader

    @property
    def instruction(self) -> str:
        return INSTRUCTIONS[self.grader]

    @property
    def format_error_feedback(self) -> str:
        return _UNREADABLE[self.grader]

    def find_answer(self, action: str) -> str | None:
        return extract(action)

    def grade(self, answer: str) -> Grade:
        gold = self.gold()
        return _grade_of(answer, gold, JUDGES[self.grader](answer, gold))

    def unanswered(self) -> Grade:
        return _grade_of(None, self.gold(), _NO_BOX)

    def sample_action(self) -> str:
        return boxed(str(self.sample_rng.randrange(-1_000_000, 1_000_001)))

    def gold(self) -> str:
        """Return the right answer, as the grader takes it."""
        raise NotImplementedError


def _grade_of(answer: str | None, gold: str, verdict: Verdict) -> Grade:
    """Return what a verdict pays, and tells."""
    info = {
        "verdict": verdict.outcome,
        "how": verdict.how,
        "answer": None if answer is None else answer[:_MOST_SHOWN],
        "gold": gold,
    }
    if verdict.outcome == "unreadable":
        return Grade(None, info=info)
    is_right = verdict.outcome == "right"
    feedback = _UNDECIDED if verdict.outcome == "undecided" else ""
    return Grade(float(is_right), is_right, feedback, info=info)
