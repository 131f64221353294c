"""Ask math-verify. Whoever calls this holds the deadline: it may take for ever."""

from __future__ import annotations

import logging

from gem_envs_math.grading.verdict import Verdict

__all__ = ["verify"]

_DIGITS = 15  # of a float; math-verify's own default of 6 takes 1.41421356 for the root of 2


def verify(answer: str, gold: str) -> Verdict:
    """Return math-verify's verdict on what `decide` left open. Takes milliseconds, or for ever.

    To be called in a process that may be killed: it hangs on some answers and fills the memory on
    others, and its own deadlines, which need the main thread, are off. Nothing is evaluated as
    Python. Raises ImportError without the extra `verify`.
    """
    from math_verify import LatexExtractionConfig, parse  # heavy: 0.6 s, sympy
    from math_verify import verify as compare

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
    is_right = compare(golds, answers, float_rounding=_DIGITS, timeout_seconds=None)
    return Verdict("right" if is_right else "wrong", "math-verify")
