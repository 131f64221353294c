"""A question about data that only a notebook holds, and the wrapper that holds the data there.

Without Python every answer is a guess: the data is in no text that a policy is shown.
"""

from __future__ import annotations

import re
from typing import Any

from gem import Env, Step, Wrapper

__all__ = ["Notebook", "Records"]

QUESTIONS = ("first", "last", "sum")
_BOX = re.compile(r"\\boxed\{(\d+)\}")


class Records(Env):
    r"""Ask for the first or the last of five digits, or for the last digit of their sum.

    The digits are in `numbers`, and in no text: each of the ten answers is as likely as the others.
    1 for the right digit in `\boxed{}`, 0 for another one, -0.1 for an answer without one; each of
    them ends the episode.

    >>> env = Records()
    >>> observation, info = env.reset(seed=0)
    >>> env.step(env.solve()).reward
    1.0
    """

    max_turns = 3
    reward_range = (-0.1, 1.0)

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.question = ""

    def reset(self, seed: int | None = None, *_: Any, **options: Any) -> tuple[str, dict[str, Any]]:
        self.numbers = [self.rng.randint(0, 9) for _ in range(5)]
        self.question = self.rng.choice(QUESTIONS)
        text = (
            "The list `numbers` in the notebook holds digits. Give one digit in \\boxed{}. "
            f"Question: {self.question}"
        )
        return text, {}

    @property
    def answer(self) -> int:
        """The right digit."""
        answers = {"first": self.numbers[0], "last": self.numbers[-1], "sum": sum(self.numbers)}
        return answers[self.question] % 10

    def step(self, action: str) -> Step:
        found = _BOX.findall(action)
        if not found:
            return Step("There was no digit.", -0.1, True, False, {"success": False})
        is_right = int(found[-1]) == self.answer
        return Step("", float(is_right), True, False, {"success": is_right})

    def solve(self) -> str:
        """Return the right answer."""
        return f"\\boxed{{{self.answer}}}"

    def sample_action(self) -> str:
        """Return a digit."""
        return f"\\boxed{{{self.sample_rng.randint(0, 9)}}}"


class Notebook(Wrapper):
    """Let a program of the policy begin with the episode's `numbers`, as a notebook would."""

    def on_action(self, action: str) -> str:
        base = self.env.unwrapped
        if "<python>" not in action or not isinstance(base, Records):
            return action
        return action.replace("<python>", f"<python>numbers = {base.numbers}\n", 1)
