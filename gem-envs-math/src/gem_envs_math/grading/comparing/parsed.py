r"""Read with math-verify's parser what no rule reads (sums, integrals, limits), and compare values.

Nothing of math-verify's own comparison is used: it takes `x^2+10=0` for any equation without a
real root, and what it says may change with the order in a set. Two expressions are the same here
if they have the same values, to 45 digits, at points that are fixed. Both ways round the result
is the same, in every process. Knows nothing about deadlines: evaluating may take for ever.
"""

from __future__ import annotations

import logging
import random
import re
from collections.abc import Sequence
from typing import Any

from gem_envs_math.grading.comparing.infinite_sums import with_sums_computed
from gem_envs_math.grading.comparing.matching import match
from gem_envs_math.grading.text.names import split_letters
from gem_envs_math.grading.text.tokens import Token

__all__ = ["is_formula", "parse", "same_parsed"]

# Any: sympy has no types of its own, and latex2sympy returns whatever a text is.

_EVALUATED = (
    "\\sum",
    "\\prod",
    "\\int",
    "\\lim",
    "\\to",
    "\\zeta",
    "\\Gamma",
    "\\gcd",
    "\\max",
    "\\min",
)
_WRITTEN = ("\\frac", "\\sqrt", "\\binom", "\\infty", "\\begin", "\\end", "\\cup")
_COMMANDS = frozenset((*_EVALUATED, *_WRITTEN))
_SIGNS = frozenset("+-*/^_(){}[]|=<>,!'&") | {"<=", ">=", "!=", "\\{", "\\}", "\\\\"}
_NUMBER = re.compile(r"[0-9]+")
_COMPUTED = ("\\gcd", "\\max", "\\min", "\\binom", "!", "!!")
_DETERMINANTS = ("vmatrix", "Vmatrix")  # an answer is to be evaluated
_DIGITS = 60
_CLOSE = 1e-45  # of the larger value: what differs by less is the same to that many digits
_POINTS = 6
_COMPLEX = (4, 5)  # the points at which symbols are complex numbers; at the others, positive
_FAR = (1, -1, 1000, -1000, 1, 1)  # what symbols are multiplied by where a maximum stands
_WHOLE = (2, 3, 5, 7, 10, 12)  # a symbol that says how far a sum goes is one of these


def is_formula(tokens: Sequence[Token]) -> bool:
    """Whether all tokens are mathematics that the parser reads as we do."""
    texts = {token.text for token in tokens}
    last_kind = last_text = ""
    has_argument = False  # the next token is all that a fraction takes: the x of `\frac x2`
    split = split_letters(tokens)
    if "\\gcd" in texts and any(token.kind == "symbol" for token in split):
        return False  # the parser takes symbols for polynomials, and 1 for the divisor of 6 and n
    for token in split:
        is_name = token.kind in ("number", "symbol", "function") or token.text == "d"
        # The parser takes `5 6` for 11.
        has_gap = token.kind == last_kind == "number"
        # It leaves out what is below a number, and takes 5 for 5_x.
        has_gap |= token.text == "_" and last_kind == "number"
        # It takes `\\zeta(2)` for a product with a symbol.
        has_gap |= token.text == "(" and last_text == "\\zeta"
        # It takes `x2` for 2x.
        has_gap |= token.kind == "number" and last_kind == "symbol" and not has_argument
        if has_gap or not (is_name or token.text in _COMMANDS or token.text in _SIGNS):
            return False
        has_argument = token.kind == "symbol" and last_text in ("\\frac", "\\binom")
        last_kind = token.kind
        last_text = token.text
    # It leaves out what stands in a text, and takes 5 for 5 x 3 with the x in one.
    has_text = any(
        token.kind == "word" and len(token.text) == 1 and token.text != "d" for token in tokens
    )
    return bool(texts) and not has_text and texts.isdisjoint(_DETERMINANTS)


def parse(text: str, tokens: Sequence[Token]) -> Any | None:
    """Return what math-verify's parser makes of a text in LaTeX, None if nothing or less than it.

    Nothing is evaluated as Python. Raises ImportError without the extra `verify`.
    """
    import math_verify  # heavy: 0.6 s, sympy

    logging.getLogger("math_verify").setLevel(logging.ERROR)  # it warns of the missing deadline
    # Without ExprExtractionConfig, which would hand text to sympy's parser and so to `eval`.
    config = [math_verify.LatexExtractionConfig()]
    parts = math_verify.parse(
        f"${text}$", config, fallback_mode="no_fallback", parsing_timeout=None
    )
    parsed = next((part for part in parts if not isinstance(part, str)), None)
    if any(token.text in _COMPUTED for token in tokens):
        return parsed  # without the numbers that these were computed from
    # Beside a matrix it takes 26 for 2 + 6.
    numbers: set[str] = set()
    last = ""
    for token in tokens:
        is_long = token.kind == "number" and token.text.isdigit() and len(token.text) > 1
        if is_long and last not in ("\\frac", "\\binom"):  # these take single digits, as TeX does
            numbers.add(token.text)
        last = token.text
    return parsed if numbers <= {*_NUMBER.findall(str(parsed))} else None


def same_parsed(a: Any, b: Any) -> bool | None:
    """Whether two parsed answers are the same; None where values cannot tell."""
    from sympy import And, Expr, FiniteSet, Interval, MatrixBase, MatrixExpr, Or, Tuple, Union
    from sympy.core.relational import Relational

    if isinstance(a, MatrixExpr) or isinstance(b, MatrixExpr):
        a = a.doit()
        b = b.doit()
    if isinstance(a, MatrixBase) and isinstance(b, MatrixBase):
        return a.shape == b.shape and _all_same(a.flat(), b.flat())
    if isinstance(a, Relational) and isinstance(b, Relational):
        return _same_relation(a, b)
    if isinstance(a, Interval) and isinstance(b, Interval):
        has_same_ends = (a.left_open, a.right_open) == (b.left_open, b.right_open)
        return has_same_ends and _all_same(a.args[:2], b.args[:2])
    for kind in (FiniteSet, Union, And, Or):
        if isinstance(a, kind) and isinstance(b, kind):
            # In an order of their own, or it would be that of a process's hashes.
            return match(_ordered(a.args), _ordered(b.args), same_parsed)
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return _all_same(a.args, b.args)
    if isinstance(a, Expr) and isinstance(b, Expr):
        return _same_value(a, b)
    return False


def _ordered(parts: Sequence[Any]) -> list[Any]:
    return sorted(parts, key=str)


def _all_same(first: Sequence[Any], second: Sequence[Any]) -> bool | None:
    if len(first) != len(second):
        return False
    truths = [same_parsed(a, b) for a, b in zip(first, second, strict=True)]
    if False in truths:
        return False
    return None if None in truths else True


def _same_relation(a: Any, b: Any) -> bool | None:
    """Whether one relation is a multiple of the other, a positive one if it has a direction."""
    from sympy import Expr, MatrixExpr

    a, b = (side.reversed if side.rel_op in (">", ">=") else side for side in (a, b))
    if a.rel_op != b.rel_op or a.free_symbols != b.free_symbols or not a.free_symbols:
        return False
    sides = (*a.args, *b.args)
    if not all(isinstance(side, Expr) and not isinstance(side, MatrixExpr) for side in sides):
        return _all_same(a.args, b.args)  # a symbol, and the interval, set or matrix that it is
    ratios = []
    for first, second in _values(a.lhs - a.rhs, b.lhs - b.rhs):
        if first is None or second is None:
            return None
        if abs(first) < _CLOSE or abs(second) < _CLOSE:
            return False  # it holds for all values, or for none of them
        ratios.append(first / second)
    if not all(_is_close(ratio, ratios[0]) for ratio in ratios):
        return False
    has_direction = a.rel_op in ("<", "<=")
    return not has_direction or bool(ratios[0].real > abs(ratios[0].imag))


def _same_value(a: Any, b: Any) -> bool | None:
    truths: list[bool | None] = []
    for point, (first, second) in enumerate(_values(a, b)):
        is_known = first is not None and second is not None
        if (
            is_known or point not in _COMPLEX
        ):  # a sum may have no value there, and a maximum has none
            truths.append(_is_close(first, second) if is_known else None)
    if False in truths:
        return False
    return None if None in truths else True


def _is_close(a: Any, b: Any) -> bool:
    return bool(abs(a - b) <= _CLOSE * max(1, abs(a), abs(b)))


def _values(a: Any, b: Any) -> list[tuple[Any, Any]]:
    """Return the values of both at each point, None for what has none."""
    from sympy import Max, Min, Rational

    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    whole = _lengths(a) | _lengths(b)
    # Below 1/2, where most sums without end converge, and not so near 0 that one with a hundred
    # terms is the same to 45 digits.
    is_near = _is_series(a) or _is_series(b)
    base, scale = (Rational(2, 5), Rational(1, 25)) if is_near else (0, 1)
    # Between positive numbers alone, the larger of x and 0 would be x.
    is_signed = a.has(Max, Min) or b.has(Max, Min)
    places: list[dict[Any, Any]] = []
    for point in range(_POINTS if symbols else 1):
        place = {}
        for symbol in symbols:
            coordinate = _coordinate(symbol, point, is_whole=symbol in whole)
            if symbol not in whole:
                coordinate = base + coordinate * (_FAR[point] if is_signed else scale)
            place[symbol] = coordinate
        places.append(place)
    return [(_value(a, place), _value(b, place)) for place in places]


def _is_series(a: Any) -> bool:
    """Whether an expression has a sum without end: most converge only near 0."""
    from sympy import Sum, oo

    return any(oo in limit[1:] for part in a.atoms(Sum) for limit in part.limits)


def _lengths(a: Any) -> set[Any]:
    """Return the symbols that say where a sum ends, or are above a negative number: whole ones."""
    from sympy import Pow, Product, Sum, factorial

    ends = [limit[1:] for part in a.atoms(Sum, Product) for limit in part.limits]
    ends += [part.args for part in a.atoms(factorial)]
    ends += [(part.exp,) for part in a.atoms(Pow) if part.base.is_negative]
    bounds = [bound for end in ends for bound in end]
    return {symbol for bound in bounds for symbol in bound.free_symbols}


def _coordinate(symbol: Any, point: int, *, is_whole: bool) -> Any:
    from sympy import I, Rational

    rng = random.Random(f"{point} {symbol}".encode("utf-8", "replace"))
    if is_whole:
        return _WHOLE[(point + rng.randrange(_POINTS)) % _POINTS]
    real = Rational(rng.randrange(400, 2400), 1009)
    if point in _COMPLEX:
        return real + I * Rational(rng.randrange(400, 2400), 1009)
    return real


def _value(expression: Any, place: dict[Any, Any]) -> Any | None:
    """Return a number of mpmath, or None: at this place there is none, or none that was found."""
    import mpmath
    from sympy import Derivative, Integral, Limit, UnevaluatedExpr

    try:
        if (
            expression.has(Derivative, Limit, UnevaluatedExpr)
            or _is_indefinite(expression, Integral)
            # Digits are computed of integrals over one variable.
            or any(len(part.limits) > 1 for part in expression.atoms(Integral))
        ):
            expression = expression.doit()
        expression = with_sums_computed(expression, place, _DIGITS)
        if expression is None:
            return None
        number = expression.subs(place).evalf(_DIGITS)
        real, imaginary = number.as_real_imag()
        if not (real.is_Float or real.is_Integer) or not (imaginary.is_Float or imaginary.is_zero):
            return None
        with mpmath.workdps(_DIGITS):
            return mpmath.mpc(str(real), str(imaginary))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - sympy raises anything on what a model may write
        return None


def _is_indefinite(expression: Any, kind: type) -> bool:
    return any(len(limit) < 3 for part in expression.atoms(kind) for limit in part.limits)
