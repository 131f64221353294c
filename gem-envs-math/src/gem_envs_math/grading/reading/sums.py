r"""Read an amount in several units as one in the last of them: `2 \text{ h } 30 \text{ min}`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from gem_envs_math.grading.arithmetic.field import Field
from gem_envs_math.grading.arithmetic.grammar import compute
from gem_envs_math.grading.reading.shapes import Scalar
from gem_envs_math.grading.text.tokens import Token
from gem_envs_math.grading.units.ending import split_unit
from gem_envs_math.grading.units.measures import Unit, is_money, known

__all__ = ["read_parts", "read_sum"]

_MOST_PARTS = 4
_MOST_TOKENS = 18  # four parts with stops, and what joins them
_JOINTS = frozenset(("and", ","))
_TENS = frozenset((10, 100, 1000))


def read_sum(number: Sequence[Token], unit: Unit) -> Scalar | None:
    r"""Return the amount whose last unit is `unit` and what stands before it `number`.

    `number` is `5\text{ ft }3` in `5\text{ ft }3\text{ in}`: plain numbers, each with a smaller
    unit of one dimension than the one before, and nothing between them. None for anything else.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> amount = read_sum(*split_unit(tokenize(r"1 \text{ h } 30 \text{ min}"))[:2])
    >>> amount.value, str(amount.unit.factor)
    (Fraction(90, 1), '60')
    """
    if len(number) < 3 or not any(token.kind == "word" for token in number):
        return None
    total = Fraction(0)
    smaller = unit
    for _ in range(_MOST_PARTS):
        last = number[-1]
        if last.kind != "number":
            return None
        size = compute([last], Field())
        assert not isinstance(size, tuple)  # it is a number
        total += size * smaller.factor / unit.factor
        number = number[:-1]
        if not number:
            return Scalar(total, False, unit, 1, [Token("number", str(total))])
        number, larger, scale = split_unit(number)
        if larger is None or scale != 1 or not _is_part(smaller, larger):
            return None
        smaller = larger
    return None


def read_parts(tokens: Sequence[Token]) -> Scalar | None:
    r"""Read `1 hour and 30 minutes` and `5'6"`: an amount that may have words between its parts.

    Each part is less than one of the unit before it. None for anything else: `3 m and 40 cm` are
    two lengths, as units of ten times another are not said together.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> read_parts(tokenize("1 hour and 30 minutes")).value, read_parts(tokenize("3 m and 40 cm"))
    (Fraction(90, 1), None)
    """
    if not 4 <= len(tokens) <= _MOST_TOKENS or tokens[0].kind != "number":
        return None
    parts = _feet(tokens) or _parts(tokens)
    if len(parts) < 2:
        return None
    total = Fraction(0)
    unit = parts[-1][1]
    for size, measure in parts:
        total += size * measure.factor / unit.factor
    for (_, larger), (size, smaller) in pairwise(parts):
        if not _is_part(smaller, larger) or size * smaller.factor >= larger.factor:
            return None
    return Scalar(total, False, unit, 1, [Token("number", str(total))])


def _parts(tokens: Sequence[Token]) -> list[tuple[Fraction, Unit]]:
    """Return the numbers and units that follow each other, [] where anything else stands."""
    parts: list[tuple[Fraction, Unit]] = []
    is_joined = False
    at = 0
    while at < len(tokens):
        unit = known(tokens[at + 1].text) if at + 1 < len(tokens) else None
        is_named = unit is not None and tokens[at + 1].kind in ("word", "letters")
        if tokens[at].kind != "number" or not is_named or unit is None:
            return []
        if is_joined and not _is_said_with(unit, parts[-1][1]):
            return []
        parts.append((_number(tokens[at]), unit))
        at += 2
        if at < len(tokens) and tokens[at].text == ".":
            at += 1
        start = at
        while at < len(tokens) and tokens[at].text in _JOINTS:
            at += 1
        is_joined = at > start
    return [] if is_joined else parts


def _feet(tokens: Sequence[Token]) -> list[tuple[Fraction, Unit]]:
    """Return feet and inches by their signs: `5'6"`."""
    texts = [token.text for token in tokens]
    foot = known("ft")
    inch = known("in")
    is_marked = texts[1] == "'" and texts[3:] in (["'", "'"], ['"']) and tokens[2].kind == "number"
    if not is_marked or foot is None or inch is None:
        return []
    return [(_number(tokens[0]), foot), (_number(tokens[2]), inch)]


def _is_said_with(smaller: Unit, larger: Unit) -> bool:
    """Whether `and` between two units makes one amount, as between hours and minutes."""
    return is_money(smaller) or larger.factor / smaller.factor not in _TENS


def _number(token: Token) -> Fraction:
    size = compute([token], Field())
    assert not isinstance(size, tuple)  # it is a number
    return Fraction(size)


def _is_part(smaller: Unit, larger: Unit) -> bool:
    """Whether two units follow each other in one amount, as hours and minutes do."""
    is_one_kind = smaller.dimension == larger.dimension and smaller.turns == larger.turns
    return is_one_kind and smaller.factor < larger.factor
