"""Take the unit off the end of an answer's tokens.

A unit that is known has a dimension and a factor: 2 hours are 120 minutes, and no kilograms.
Other words after a number are a label (`81 teachers`): they say nothing about its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from gem_envs_math.grading.tokens import Token

__all__ = ["DEGREE", "LABEL", "PERCENT", "Unit", "split_unit"]


class Unit(NamedTuple):
    """A dimension, and how many of the dimension's first unit one of this unit is."""

    dimension: str
    factor: Fraction = Fraction(1)


PERCENT = Unit("percent")
DEGREE = Unit("degree")
LABEL = Unit("label")

_TABLE = (
    ("length", "m meter metre", "1"),
    ("length", "km kilometer kilometre", "1000"),
    ("length", "cm centimeter centimetre", "1/100"),
    ("length", "mm millimeter millimetre", "1/1000"),
    ("length", "in inch inches", "127/5000"),
    ("length", "ft foot feet", "381/1250"),
    ("length", "yd yard", "1143/1250"),
    ("length", "mi mile", "201168/125"),
    ("time", "s sec second", "1"),
    ("time", "min minute", "60"),
    ("time", "h hr hour", "3600"),
    ("time", "day", "86400"),
    ("time", "week", "604800"),
    ("mass", "g gm gram", "1"),
    ("mass", "kg kilogram", "1000"),
    ("mass", "mg milligram", "1/1000"),
    ("mass", "lb pound", "45359237/100000"),
    ("mass", "oz ounce", "45359237/1600000"),
    ("volume", "l liter litre", "1"),
    ("volume", "ml milliliter millilitre", "1/1000"),
    ("volume", "gallon", "473176473/125000000"),
    ("volume", "quart", "473176473/500000000"),
    ("volume", "pint", "473176473/1000000000"),
    ("money", "dollar", "1"),
    ("money", "cent", "1/100"),
    ("euro", "euro", "1"),
    ("sterling", "gbp", "1"),
    ("yen", "yen", "1"),
    ("length/time", "mph", "1397/3125"),
    ("radian", "rad radian", "1"),
    ("degree", "deg degree", "1"),
    ("percent", "percent pct", "1"),
)
_UNITS = {
    name: Unit(dimension, Fraction(factor))
    for dimension, names, factor in _TABLE
    for name in names.split()
}
_SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
    "trillion": 1_000_000_000_000,
}
_POWERS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_NO_LABEL_LIST = (
    "and or not minus plus times over divided by less more than to from through at with "
    "is if where for mod modulo choose root squared cubed half quarter third power negative "
    "sin cos tan cot sec csc ln log exp sqrt arcsin arccos arctan"
)
_NO_LABELS = frozenset(_NO_LABEL_LIST.split())
_JOINTS = (".", "/")
_SHORTEST_LABEL = 4  # in mathematics, where a shorter run of letters is a product


def split_unit(tokens: Sequence[Token]) -> tuple[Sequence[Token], Unit | None, int]:
    r"""Return the tokens before the unit, the unit if there is one, and a scale such as thousand.

    >>> from gem_envs_math.grading.tokens import tokenize
    >>> split_unit(tokenize(r"15\mbox{ cm}^2"))[1:]
    (Unit(dimension='length 2', factor=Fraction(1, 10000)), 1)
    """
    if tokens and tokens[0].text == "$":
        number, unit, scale = split_unit(tokens[1:])
        return number, _UNITS["dollar"] if unit in (None, LABEL) else Unit("mixed"), scale
    if len(tokens) > 2 and tokens[0].text == "-" and tokens[1].text == "$":
        number, unit, scale = split_unit(tokens[1:])
        return [tokens[0], *number], unit, scale
    sign = _final_sign(tokens)
    if sign is not None:
        return sign
    return _split_words(tokens)


def _final_sign(tokens: Sequence[Token]) -> tuple[Sequence[Token], Unit | None, int] | None:
    texts = [token.text for token in tokens[-4:]]
    if len(tokens) > 1 and texts[-1] == "%":
        return tokens[:-1], PERCENT, 1
    if len(tokens) > 2 and texts[-2:] == ["^", "\\circ"]:
        return _unless_applied(tokens, 2)
    if len(tokens) > 4 and texts == ["^", "{", "\\circ", "}"]:
        return _unless_applied(tokens, 4)
    return None


def _unless_applied(
    tokens: Sequence[Token], length: int
) -> tuple[Sequence[Token], Unit | None, int] | None:
    r"""Leave the degrees in `\cos 15^\circ` to the function."""
    if any(token.kind in ("command", "letters", "word") for token in tokens[:-length]):
        is_plain = all(
            token.text in ("\\frac", "\\pi", "\\sqrt") or token.kind not in ("command", "letters")
            for token in tokens[:-length]
        )
        if not is_plain:
            return None
    return tokens[:-length], DEGREE, 1


def _split_words(tokens: Sequence[Token]) -> tuple[Sequence[Token], Unit | None, int]:
    end = _exponent_start(tokens)
    start = end
    while start and _is_word(tokens, start - 1):
        start -= 1
    while start < end and tokens[start].text in _JOINTS:
        start += 1
    words = [token.text.casefold() for token in tokens[start:end] if token.text not in _JOINTS]
    if not start or not words or not _NO_LABELS.isdisjoint(words):
        return tokens, None, 1
    exponent = (
        1 if end == len(tokens) else int(tokens[end + 1 + (tokens[end + 1].text == "{")].text)
    )
    scale = 1
    while words and words[0] in _SCALES:
        scale *= _SCALES[words.pop(0)]
    return tokens[:start], _unit(words, exponent) if words else None, scale


def _exponent_start(tokens: Sequence[Token]) -> int:
    """Return where `^2`, `^{2}`, `^3` or `^{3}` starts at the end of a unit, or the end."""
    texts = [token.text for token in tokens[-4:]]
    for size in (2, 4):
        is_power = texts[-size:] in (
            ["^", "2"],
            ["^", "3"],
            ["^", "{", "2", "}"],
            ["^", "{", "3", "}"],
        )
        if is_power and len(tokens) > size and _is_word(tokens, len(tokens) - size - 1):
            return len(tokens) - size
    return len(tokens)


def _is_word(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    if token.kind == "word" or (token.text in _JOINTS and at > 0):
        return True
    if token.kind != "letters" or len(token.text) < 2 or not at:
        return False
    before = tokens[at - 1]
    if _known(token.text.casefold()):
        return before.kind in ("number", "word", "letters") or before.text in ("}", ")")
    return len(token.text) >= _SHORTEST_LABEL and token.spaced


def _unit(words: list[str], exponent: int) -> Unit:
    if words[0] in _POWERS and len(words) > 1:
        exponent *= _POWERS[words[0]]
        words = words[1:]
    units = [unit for unit in map(_known, words) if unit is not None]
    if len(units) == 2 and exponent == 1 and _is_quotient(words):
        over, under = units
        return Unit(f"{over.dimension}/{under.dimension}", over.factor / under.factor)
    if len(units) != 1 or "per" in words:
        return LABEL
    unit = units[0]
    return unit if exponent == 1 else Unit(f"{unit.dimension} {exponent}", unit.factor**exponent)


def _is_quotient(words: list[str]) -> bool:
    return len(words) == 2 or words[1:2] in (["per"], ["an"], ["a"])


def _known(word: str) -> Unit | None:
    unit = _UNITS.get(word)
    return _UNITS.get(word[:-1]) if unit is None and len(word) > 2 and word[-1] == "s" else unit
