r"""A question with one answer in a `\boxed{}`: one turn, judged by a grader.

Knows nothing about where questions come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gem.content import ImagePart, Observation, Part, TextPart
from gem.env import Env, Step
from gem.errors import BadArguments
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

_MESSAGES = {
    "right": "The answer is right.",
    "wrong": "The answer is wrong.",
    "undecided": "The answer could not be judged: too much work to tell what it is.",
}
_UNREADABLE: Mapping[Grader, str] = {
    "math": "The answer could not be read. Expected an answer inside \\boxed{}.",
    "number": (
        "The answer could not be read. Expected one number, without units or words, inside "
        "\\boxed{}."
    ),
}
_NO_BOX = Verdict("unreadable", "no box")
_MOST_SHOWN = 200


class MathProblem(Env):
    r"""One question, one turn: 1.0 for the right answer in the last `\boxed{}`, else 0.0.

    An answer that cannot be read pays `format_error_reward` instead. One that is undecided pays
    0.0: `info["verdict"]` names it, as it does "right", "wrong" and "unreadable", and
    `info["how"]` says how that was found. `info["answer"]` is what was read, up to 200
    characters, and `info["gold"]` the right answer. A subclass writes `pose`, `question` and
    `gold`, and `images` where it shows any.
    """

    max_turns = 1
    single_turn = True
    reward_range = (0.0, 1.0)

    def __init__(self, grader: Grader, format_error_reward: float = 0.0) -> None:
        if not -1.0 <= format_error_reward <= 0.0:
            raise BadArguments(
                f"format_error_reward={format_error_reward} was asked for. It must lie between "
                "-1 and 0, so that an answer that cannot be read never pays.",
                subject=type(self).__name__,
            )
        check_requirements(REQUIRES[grader], subject=f"The grader {grader!r}", of="gem-envs-math")
        self.grader: Grader = grader
        self.format_error_reward = format_error_reward
        self.reward_range = (format_error_reward, 1.0)

    def reset(
        self, seed: int | None = None, *, task: int | None = None, **options: Any
    ) -> tuple[Observation, dict[str, Any]]:
        """Pose a question: item `task` of the set where there is one, or one that `rng` draws."""
        if options:
            raise BadArguments(
                f"{type(self).__name__} was reset with {', '.join(options)}. It takes seed and "
                "task; pass everything else to gem.make.",
                subject=type(self).__name__,
            )
        self.pose(task)
        text = f"{self.question()}\n\n{INSTRUCTIONS[self.grader]}"
        parts: list[Part] = [*self.images(), TextPart(text)]
        return parts if len(parts) > 1 else text, self.facts()

    def step(self, action: str) -> Step:
        gold, answer = self.gold(), extract(action)
        verdict = _NO_BOX if answer is None else JUDGES[self.grader](answer, gold)
        info: dict[str, Any] = {
            "success": verdict.outcome == "right",
            "verdict": verdict.outcome,
            "how": verdict.how,
            "answer": answer and answer[:_MOST_SHOWN],
            "gold": gold,
            **self.facts(),
        }
        if verdict.outcome == "unreadable":
            reward, told = self.format_error_reward, _UNREADABLE[self.grader]
            info.update(reward_parts={"format_error": reward}, action_error="format")
        else:
            reward, told = float(verdict.outcome == "right"), _MESSAGES[verdict.outcome]
            info["reward_parts"] = {"answer": reward}
        return Step(told, reward, True, False, info)

    def sample_action(self) -> str:
        return boxed(str(self.sample_rng.randrange(-1_000_000, 1_000_001)))

    def solve(self) -> str | None:
        return boxed(self.gold())

    def pose(self, task: int | None) -> None:
        """Set up an episode's question, drawing from `rng`."""
        raise NotImplementedError

    def question(self) -> str:
        """Return the question, without the instruction that follows it."""
        raise NotImplementedError

    def images(self) -> Sequence[ImagePart]:
        """Return what is shown before the question."""
        return ()

    def gold(self) -> str:
        """Return the right answer, as the grader takes it."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """Return what every `info` of the episode says of its question."""
        return {}
