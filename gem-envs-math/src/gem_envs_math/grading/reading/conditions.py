r"""Join inequalities that hold together into one: `x > 1, x < 3` is `1 < x < 3`.

Knows nothing about the answer that they are compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gem_envs_math.grading.arithmetic.grammar import compute
from gem_envs_math.grading.arithmetic.numeric import At
from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.reading.shapes import Relation, Unions
from gem_envs_math.grading.text.tokens import Token

__all__ = ["joined", "place"]

Tokens = Sequence[Token]

_FRACTION = frozenset(("\\frac", "{", "}", "\\sqrt", "/"))
_OPEN = Token("sign", "(")
_CLOSE = Token("sign", ")")
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}


def joined(relations: Sequence[Relation], *, is_and: bool) -> Relation | Unions | None:
    r"""Return what inequalities in one symbol say together, None where that is not clear.

    Between commas half-lines that do not meet are two parts of one set: `x < -2, x > 3`;
    `is_and` says that a word forbids it.
    """
    bounds = [bound for relation in relations for bound in _bounds(relation)]
    symbols = {symbol for symbol, _, _ in bounds}
    if len(symbols) != 1 or any(not _bounds(relation) for relation in relations):
        return None
    lows = [(sign, end) for _, sign, end in bounds if sign in (">", ">=")]
    highs = [(sign, end) for _, sign, end in bounds if sign in ("<", "<=")]
    holes = sorted((end for _, sign, end in bounds if sign == "!="), key=place)
    if len(lows) > 1 or len(highs) > 1 or not (lows or highs):
        return None
    if lows and highs and place(lows[0][1]) >= place(highs[0][1]):
        are_parts = not is_and and len(relations) == 2 and not holes
        return Unions(tuple(relations)) if are_parts else None
    symbol = [Token("letters", symbols.pop())]
    return _pieces(symbol, lows, holes, highs)


def without_bars(a: Relation) -> Relation | Unions | None:
    r"""Return `|x - 1| < 2` as `1 - 2 < x < 1 + 2`; None for a relation of another kind."""
    if len(a.sides) == 3:
        return _between_bars(a)
    if len(a.sides) != 2 or a.signs[0] not in ("<", "<=", ">", ">="):
        return None
    inside = a.sides[0][1:-1]
    end = a.sides[1]
    has_bars = a.sides[0][0].text == "|" == a.sides[0][-1].text and inside
    if not has_bars or not _is_letter(inside[:1]) or not _is_positive(end):
        return None
    middle = _negated(inside[1:])
    if middle is None:
        return None
    symbol = inside[:1]
    sign = a.signs[0]
    low = [*middle, Token("sign", "-"), _OPEN, *end, _CLOSE]
    high = [*middle, Token("sign", "+"), _OPEN, *end, _CLOSE]
    if sign in ("<", "<="):
        return Relation((low, symbol, high), (sign, sign))
    below = Relation((symbol, low), (_FLIPPED[sign],))
    return Unions((below, Relation((symbol, high), (sign,))))


def _between_bars(a: Relation) -> Unions | None:
    """Return `1 < |x| < 2` as `-2 < x < -1` or `1 < x < 2`."""
    bars = a.sides[1]
    signs = a.signs
    low, high = (a.sides[0], a.sides[2]) if signs[0] in ("<", "<=") else (a.sides[2], a.sides[0])
    if signs[0] in (">", ">="):
        signs = (_FLIPPED[signs[1]], _FLIPPED[signs[0]])
    has_bars = len(bars) > 2 and bars[0].text == "|" == bars[-1].text and _is_letter(bars[1:2])
    if not has_bars or not set(signs) <= {"<", "<="} or not _is_positive(low):
        return None
    middle = _negated(bars[2:-1])
    if middle is None or not _is_positive(high):
        return None
    ends = [
        [*middle, Token("sign", sign), _OPEN, *end, _CLOSE]
        for sign, end in (("-", high), ("-", low), ("+", low), ("+", high))
    ]
    below = Relation((ends[0], bars[1:2], ends[1]), signs[::-1])
    return Unions((below, Relation((ends[2], bars[1:2], ends[3]), signs)))


def _negated(tokens: Tokens) -> Tokens | None:
    """Return minus what is added to a symbol, `- 1` or `+ 1`; None for anything but a number."""
    if not tokens:
        return [Token("number", "0")]
    rest = tokens[1:]
    is_number = bool(rest) and all(
        token.kind == "number" or token.text in _FRACTION for token in rest
    )
    if tokens[0].text not in ("+", "-") or not is_number:
        return None
    return rest if tokens[0].text == "-" else [Token("sign", "-"), *rest]


def _is_positive(tokens: Tokens) -> bool:
    is_number = all(token.kind == "number" or token.text in _FRACTION for token in tokens)
    return bool(tokens) and is_number and place(tokens) > 0


def place(tokens: Tokens) -> float:
    """Return about where a number lies: enough to put numbers in order. Raises Unread."""
    try:
        return float(compute(tokens, At(0)).number.real)
    except (ArithmeticError, ValueError) as error:
        raise Unread("a number without a place") from error


_Bound = tuple[str, Tokens]


def _pieces(
    symbol: Tokens, lows: Sequence[_Bound], holes: Sequence[Tokens], highs: Sequence[_Bound]
) -> Relation | Unions | None:
    ends: list[_Bound | None] = [lows[0] if lows else None]
    ends.extend((">", hole) for hole in holes)
    ends.append(highs[0] if highs else None)
    places = [place(end[1]) for end in ends if end is not None]
    if any(x >= y for x, y in pairwise(places)):
        return None  # a hole outside
    pieces = []
    for low, high in pairwise(ends):
        upper = None if high is None else ("<" if high[0] == ">" else high[0], high[1])
        if low is not None and upper is not None:
            pieces.append(Relation((low[1], symbol, upper[1]), (_FLIPPED[low[0]], upper[0])))
        elif low is not None:
            pieces.append(Relation((symbol, low[1]), (low[0],)))
        elif upper is not None:
            pieces.append(Relation((symbol, upper[1]), (upper[0],)))
    return pieces[0] if len(pieces) == 1 else Unions(tuple(pieces))


def _bounds(a: Relation) -> list[tuple[str, str, Tokens]]:
    """Return the symbol, the sign and the end of each bound; [] where it is solved for none."""
    if not set(a.signs) <= set(_FLIPPED):
        return []
    sides = a.sides
    signs = a.signs
    if len(sides) == 2 and _is_letter(sides[0]) and not _is_letter(sides[1]):
        return [(sides[0][0].text, signs[0], sides[1])]
    if len(sides) == 2 and _is_letter(sides[1]):
        return [(sides[1][0].text, _FLIPPED[signs[0]], sides[0])]
    if len(sides) == 3 and _is_letter(sides[1]):
        symbol = sides[1][0].text
        return [(symbol, _FLIPPED[signs[0]], sides[0]), (symbol, signs[1], sides[2])]
    return []


def _is_letter(side: Tokens) -> bool:
    return len(side) == 1 and side[0].kind == "letters" and len(side[0].text) == 1
