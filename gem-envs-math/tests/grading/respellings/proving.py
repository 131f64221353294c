"""Prove a pair's truth with sympy, where sympy reads both texts: the grader is not asked."""

from __future__ import annotations

import random
import re
from importlib import import_module
from typing import Any

from .problem import Pair

__all__ = ["proven"]

# Relations, lists, units and names are no expressions; some spellings sympy's reader takes amiss.
_NO_EXPRESSION = re.compile(
    r"[=,<>%$:_\[\]]|\\(?:text|mbox|in|le|ge|ne|pm|cup|begin|circ|degree|math|hat|vec|lg|bar|cdots"
    r"|max|min|lfloor|lceil|left|big|sum|int|binom|choose|over|overline)|\^\\circ"
)
_MISREAD = re.compile(
    r"[0-9] +[0-9]|[0-9] *\\[dt]?frac|[A-Z]|[fgh]\(|(?<!\\)pi|sqrt\(|\( |'|!|\.|°"
)
_DIGITS = 60
_CLOSE = 10**-40


def proven(pair: Pair) -> bool | None:
    """Return whether both texts have the same value at two points; None where sympy reads none."""
    texts = (pair.gold, pair.answer)
    if any(_NO_EXPRESSION.search(text) or _MISREAD.search(text) for text in texts):
        return None
    # Without types, both of them.
    sympy = import_module("sympy")  # heavy: 0.4 s
    reader = import_module("latex2sympy2_extended")
    try:
        gold, answer = (reader.latex2sympy(text) for text in texts)
    except Exception:  # noqa: BLE001  # a reader of another library: what it cannot read is no proof
        return None
    if not isinstance(gold, sympy.Expr) or not isinstance(answer, sympy.Expr):
        return None
    rng = random.Random(pair.gold)
    return all(_is_close(gold, answer, rng) for _ in range(2))


def _is_close(gold: Any, answer: Any, rng: random.Random) -> bool:  # Any: sympy has no types
    sympy = import_module("sympy")
    symbols = sorted(gold.free_symbols | answer.free_symbols, key=str)
    constants = {"i": sympy.I, "e": sympy.E}
    values = {
        symbol: constants.get(str(symbol), sympy.Rational(rng.randrange(50, 99), 41))
        for symbol in symbols
    }
    one, other = (sympy.N(side.subs(values), _DIGITS) for side in (gold, answer))
    return bool(abs(one - other) <= _CLOSE * (1 + abs(one)))
