r"""A question with one number as its answer: one turn, graded exactly.

Knows nothing about where questions come from.
"""

from __future__ import annotations

from typing import Any

from gem.content import Observation
from gem.env import Env
from gem.errors import BadArguments
from gem.step import Step
from gem_envs_math.answers import boxed, grade, read_number

__all__ = ["INSTRUCTION", "NumberProblem"]

INSTRUCTION = (
    "Put your final answer in \\boxed{}: one number, without units or words. "
    "Only the last \\boxed{} is graded."
)

_MESSAGES = {
    "right": "The answer is right.",
    "wrong": "The answer is wrong.",
    "unreadable": (
        "The answer could not be read. Expected one number, without units or words, inside "
        "\\boxed{}."
    ),
}


class NumberProblem(Env):
    r"""One question, one turn: 1.0 for the right number in the last `\boxed{}`, else 0.0.

    An answer that cannot be read pays `format_error_reward` instead. A subclass writes `pose`,
    `question` and `gold`.
    """

    max_turns = 1
    single_turn = True
    reward_range = (0.0, 1.0)

    def __init__(self, format_error_reward: float = 0.0) -> None:
        if not -1.0 <= format_error_reward <= 0.0:
            raise BadArguments(
                f"format_error_reward={format_error_reward} was asked for. It must lie between "
                "-1 and 0, so that an answer that cannot be read never pays.",
                subject=type(self).__name__,
            )
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
        return f"{self.question()}\n\n{INSTRUCTION}", self.facts()

    def step(self, action: str) -> Step:
        gold = read_number(self.gold())
        assert gold is not None  # whoever poses a question has read its answer
        verdict = grade(action, gold)
        info: dict[str, Any] = {"success": verdict == "right", **self.facts()}
        if verdict == "unreadable":
            reward = self.format_error_reward
            info.update(reward_parts={"format_error": reward}, action_error="format")
        else:
            reward = float(verdict == "right")
            info["reward_parts"] = {"answer": reward}
        return Step(_MESSAGES[verdict], reward, True, False, info)

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

    def gold(self) -> str:
        """Return the right answer: a text that `read_number` reads."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """Return what every `info` of the episode says of its question."""
        return {}
