"""Decide what no exact rule decides: by digits, then by what math-verify's parser reads.

Whoever calls this holds the deadline: the parser and what evaluates may take for ever.
"""

from __future__ import annotations

from gem_envs_math.grading.arithmetic.numeric import digits
from gem_envs_math.grading.comparing.comparer import Comparer
from gem_envs_math.grading.comparing.parsed import is_formula, parse, same_parsed
from gem_envs_math.grading.deciding import Reading, compare, reading
from gem_envs_math.grading.reading.shapes import Scalar
from gem_envs_math.grading.text.characters import latex
from gem_envs_math.grading.text.marks import without_marks
from gem_envs_math.grading.verdict import Verdict

__all__ = ["verify"]

_HOW = "math-verify"
_PARSED = ("!", "!!", "\\binom", "\\Gamma")


def verify(answer: str, gold: str) -> Verdict:
    r"""Return the verdict on what `decide` left open. Takes milliseconds, or for ever.

    To be called in a process that may be killed: parsing and evaluating hang on some answers and
    fill the memory on others. Nothing is evaluated as Python. The verdict is the same in every
    process, and "right" and "wrong" with answer and gold exchanged. Raises ImportError without
    the extra `verify`.

    >>> verify(r"2 \cdot 2^x", "2^{x+1}")
    Verdict(outcome='right', how='digits')
    """
    answer = latex(without_marks(answer.strip()))
    gold = latex(without_marks(gold.strip()))
    verdict = compare(answer, gold, Comparer(digits()))
    if verdict is not None:
        return verdict._replace(how="digits") if verdict.how == "value" else verdict
    return _by_values(reading(answer), reading(gold))


def _by_values(answer: Reading, gold: Reading) -> Verdict:
    if answer.prose or gold.prose:
        return Verdict("undecided", "prose")  # the parser would take one of its formulas
    # What is more than tokens of mathematics could hold what the parser leaves out.
    parsed_gold, parsed_answer = (
        parse(side.text, side.tokens) if is_formula(side.tokens) else None
        for side in (gold, answer)
    )
    if parsed_gold is None:
        is_expression = isinstance(gold.shape, Scalar)
        return Verdict("undecided", "no value" if is_expression else "gold unreadable")
    if parsed_answer is None:
        # An expression that a rule has read is well formed: only its value is not to be had.
        is_expression = isinstance(answer.shape, Scalar)
        return Verdict("undecided", "no value") if is_expression else Verdict("unreadable", _HOW)
    truth = same_parsed(parsed_answer, parsed_gold)
    # Where rules read both, 200 digits did not tell: fewer that agree say nothing more. Factorials
    # of symbols have digits only here, where symbols are whole numbers; gamma functions of large
    # numbers have none there either.
    is_read = answer.shape is not None and gold.shape is not None
    is_parsed = any(token.text in _PARSED for token in (*answer.tokens, *gold.tokens))
    if truth is None or (truth and is_read and not is_parsed):
        return Verdict("undecided", "no value")
    return Verdict("right" if truth else "wrong", _HOW)
