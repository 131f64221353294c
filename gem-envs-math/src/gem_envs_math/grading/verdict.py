"""What a grader says of an answer, and how it came to say so."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["Outcome", "Verdict"]

Outcome = Literal["right", "wrong", "unreadable", "undecided"]


class Verdict(NamedTuple):
    """An outcome and how it was decided.

    - `outcome`: "right", "wrong", "unreadable" (nothing that could be an answer stands there) or
      "undecided" (no grader could tell, within its limits: no statement on the answer).
    - `how`: the rule that decided, one of those that docs/grading.md lists: "exact", "number",
      "normal form", "value", "words", "too long", "math-verify", ...
    """

    outcome: Outcome
    how: str
