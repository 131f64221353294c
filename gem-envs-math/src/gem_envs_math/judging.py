"""Judge an answer: at once where that can be, else by math-verify, in processes that can be killed.

A verdict depends on the two texts alone, and is the same in every thread and process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from gem_envs_math.answers import read_number
from gem_envs_math.grading import Verdict, decide
from gem_envs_math.pool import Pair, Pool

__all__ = ["JUDGES", "REQUIRES", "Grader", "judge", "judge_number", "pool"]

Grader = Literal["math", "number"]
"""What answers are: any mathematics, or one number without units or words."""

REQUIRES: Mapping[Grader, tuple[str, ...]] = {
    "math": ("math-verify>=0.9",),
    "number": (),
}
"""What must be installed for a grader."""

_WARM = (  # some 2 s, and then a second less for what a worker meets first
    Pair(r"\sum_{j=1}^{3} j^2 + x", r"x + \sum_{k=1}^{3} k^2"),
    Pair(r"\int_0^1 \sin(u) du", r"\int_0^1 \sin(t) dt"),
    Pair(r"\lim_{x \to 0} \frac{\sin x}{x}", r"\lim_{y \to 0} \frac{\sin y}{y}"),
)
pool = Pool("gem_envs_math.grading:verify", warm=_WARM)
"""Where math-verify runs, for every process of the tree."""


def judge(answer: str, gold: str) -> Verdict:
    r"""Return the verdict on any answer; docs/grading.md has the rules.

    Raises nothing on any text. Where math-verify must be asked it takes milliseconds, or two
    seconds and "undecided", after waiting for its turn.

    >>> judge(r"\frac{1}{2}", "0.5")
    Verdict(outcome='right', how='number')
    """
    return decide(answer, gold) or _asked(answer, gold)


def _asked(answer: str, gold: str) -> Verdict:
    outcome, how = pool.ask(answer, gold)
    return Verdict(outcome, how)  # type: ignore[arg-type]  # as `verify` or the pool said it


def judge_number(answer: str, gold: str) -> Verdict:
    """Return the verdict on an answer that must be one number; `answers` has the rules.

    >>> judge_number("1,234.0", "1234"), judge_number("a dozen", "12").outcome
    (Verdict(outcome='right', how='number'), 'unreadable')
    """
    number = read_number(answer)
    if number is None:
        return Verdict("unreadable", "not a number")
    return Verdict("right" if number == read_number(gold) else "wrong", "number")


JUDGES: Mapping[Grader, Callable[[str, str], Verdict]] = {"math": judge, "number": judge_number}
