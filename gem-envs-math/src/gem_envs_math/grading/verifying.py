"""Decide what no exact rule decides: by digits, then by math-verify.

Whoever calls this holds the deadline: math-verify may take for ever.
"""

from __future__ import annotations

import logging

from gem_envs_math.grading.characters import latex
from gem_envs_math.grading.comparing import Comparer
from gem_envs_math.grading.deciding import compare
from gem_envs_math.grading.numeric import digits
from gem_envs_math.grading.verdict import Verdict

__all__ = ["verify"]

_ROUNDING = 50  # digits; math-verify's own default of 6 takes 1.4142136 for the root of 2


def verify(answer: str, gold: str) -> Verdict:
    r"""Return the verdict on what `decide` left open. Takes milliseconds, or for ever.

    To be called in a process that may be killed: math-verify hangs on some answers and fills the
    memory on others, and its own deadlines, which need the main thread, are off. Nothing is
    evaluated as Python. Raises ImportError without the extra `verify`.

    >>> verify(r"2 \cdot 2^x", "2^{x+1}")
    Verdict(outcome='right', how='digits')
    """
    answer, gold = latex(answer.strip()), latex(gold.strip())
    verdict = compare(answer, gold, Comparer(digits()))
    if verdict is not None:
        return verdict._replace(how="digits") if verdict.how == "value" else verdict
    return _ask(answer, gold)


def _ask(answer: str, gold: str) -> Verdict:
    from math_verify import LatexExtractionConfig, parse  # heavy: 0.6 s, sympy
    from math_verify import verify as agree

    logging.getLogger("math_verify").setLevel(logging.ERROR)  # it warns of the missing deadline
    # Without ExprExtractionConfig, which would hand text to sympy's parser and so to `eval`.
    config = [LatexExtractionConfig()]
    golds, answers = (
        parse(f"${text}$", config, fallback_mode="no_fallback", parsing_timeout=None)
        for text in (gold, answer)
    )
    if not golds:
        return Verdict("undecided", "gold unreadable")
    if not answers:
        return Verdict("unreadable", "math-verify")
    is_right = agree(
        golds,
        answers,
        float_rounding=_ROUNDING,
        numeric_precision=_ROUNDING + 10,
        timeout_seconds=None,
    )
    return Verdict("right" if is_right else "wrong", "math-verify")
