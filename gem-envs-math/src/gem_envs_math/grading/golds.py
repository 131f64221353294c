"""Say what decides answers to a gold, told by two comparisons with a plain number.

Built upon the verdicts alone, so that it stays true when rules change. Asks math-verify nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from gem_envs_math.grading.deciding import decide
from gem_envs_math.grading.limits import LONGEST, LONGEST_ASKED
from gem_envs_math.grading.verdict import Verdict

__all__ = ["Standing", "standing"]

By = Literal["rules", "words", "math-verify", "nothing"]

_PROBE = "0"  # an answer that every rule reads
_FORMULA = re.compile(r"\$[^$]+\$|\\\(.*?\\\)", re.DOTALL)  # within LONGEST, so never slow
_MOST_FORMULAS = 8
_OTHER = "$7919q$"  # a formula that no gold has
_REASONS = {
    "characters": "it has characters that are not seen",
    "empty": "nothing in it is an answer",
    "no rule": "neither a rule nor math-verify reads it",
    "too deep": "it is nested too deeply, or has too many items",
    "too large": "it has a number that is too large to compute",
    "too long": f"it has more than {LONGEST_ASKED} characters that no rule reads",
    "undefined": "it is undefined, as what is divided by zero",
}
_TOO_LONG = f"it has more than {LONGEST:,} characters"
_IDLE = "it has several formulas, and an answer may be right with another in place of one of them"


class Standing(NamedTuple):
    """What decides answers to a gold, and why nothing does.

    - `by`: "rules", "words" (an answer in other words is wrong), "math-verify" (no rule reads the
      gold; whether math-verify does is not asked), or "nothing": nothing but a copy is right, or
      an answer that has only a part of the gold is right too.
    - `trouble`: why it is "nothing"; else empty.
    """

    by: By
    trouble: str = ""


@lru_cache(maxsize=4_096)  # golds repeat: of 5,000 of MATH three in five are another's too
def standing(gold: str) -> Standing:
    r"""Return what decides answers to a gold. Takes at most milliseconds and raises nothing.

    >>> standing(r"\frac{1}{2}").by, standing(r"\text{Evelyn}").by
    ('rules', 'words')
    >>> standing("1/0")
    Standing(by='nothing', trouble='it is undefined, as what is divided by zero')
    """
    as_gold = decide(_PROBE, gold)
    if as_gold is not None and as_gold.how == "number":
        return Standing("rules")
    as_answer = decide(gold, _PROBE)  # what is no answer is no gold: the rules are symmetric
    trouble = _trouble(as_answer, as_gold, gold)
    if trouble:
        return Standing("nothing", trouble)
    if _has_idle_formula(gold):
        return Standing("nothing", _IDLE)
    if as_answer is None or as_gold is None:
        return Standing("math-verify")
    return Standing("words" if as_gold.how == "words" else "rules")


def _has_idle_formula(gold: str) -> bool:
    """Whether an answer may have another formula in place of one of several of the gold.

    Also where no rule says that it is wrong: math-verify compares one formula of a text.
    """
    formulas = list(islice(_FORMULA.finditer(gold), _MOST_FORMULAS))
    if len(formulas) < 2:
        return False
    for formula in formulas:
        other = gold[: formula.start()] + _OTHER + gold[formula.end() :]
        verdict = decide(other, gold)
        if verdict is None or verdict.outcome == "right":
            return True
    return False


def _trouble(as_answer: Verdict | None, as_gold: Verdict | None, gold: str) -> str:
    """Return why a gold cannot be graded, "" where it can or math-verify may know."""
    if len(gold.strip()) > LONGEST:
        return _TOO_LONG
    if as_answer is not None and as_answer.outcome in ("unreadable", "undecided"):
        return _REASONS.get(as_answer.how, as_answer.how)
    if as_answer is not None and as_answer.outcome == "wrong" and as_answer.how in _REASONS:
        return _REASONS[as_answer.how]
    if as_gold is not None and as_gold.outcome == "undecided":
        return _REASONS["no rule"]
    return ""
