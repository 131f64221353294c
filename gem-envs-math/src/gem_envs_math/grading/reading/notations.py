"""Compare numbers that are written in a notation of their own: bases, times of day, ratios."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from gem_envs_math.grading.arithmetic.field import Field, Value
from gem_envs_math.grading.limits import Undefined, Unread
from gem_envs_math.grading.reading.shapes import Based, Clock, Ratio, Scalar
from gem_envs_math.grading.text.tokens import Token
from gem_envs_math.grading.units.measures import is_label

__all__ = [
    "based_scalar",
    "clock_ratio",
    "clock_scalar",
    "ratio_scalar",
    "read_based",
    "same_based",
    "same_clock",
    "same_ratio",
    "with_colons",
]


_BASE_WORDS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
_BASES = {word: str(base) for base, word in enumerate(_BASE_WORDS.split(), start=2)}
_OF_DIGITS = frozenset(("number", "letters", "word"))


def same_based(a: Based, b: Based) -> bool:
    """Whether two numbers with their bases have the same value."""
    return _value(a) == _value(b)


def _value(a: Based) -> Fraction:
    whole, _, tail = a.digits.partition(".")
    size = Fraction(int(whole + tail, a.base), a.base ** len(tail))
    return -size if a.is_negative else size


def based_scalar(a: Based, b: Scalar) -> bool:
    """Compare the digits: who leaves the base out writes in the base that was asked for."""
    digits = "".join(token.text for token in b.tokens).upper()
    return not _is_measured(b) and digits == ("-" if a.is_negative else "") + a.digits


def same_clock(a: Clock, b: Clock) -> bool:
    """Whether two times of day are the same, each in its half of the day if it says which.

    Two that may be ratios are times too: nothing tells whether 1:15 for 2:30 is half as much, or an
    hour and a quarter early.
    """
    if a.half != b.half and "" in (a.half, b.half):
        full, bare = (a, b) if a.half else (b, a)
        hour = full.hour
        if bare.hour > 12 or bare.hour == 0:  # one of 24 hours
            hour = hour % 12 + (12 if full.half == "p" else 0)
        return (hour, full.minute) == bare[:2]
    return a[:3] == b[:3]


def clock_scalar(a: Clock, b: Scalar) -> bool:
    """Whether a bare number is the hour of a time of day: 9 is 9 a.m., where that was asked.

    What may be a ratio is a number as one: 5:12 is 5/12.
    """
    if a.may_be_ratio:
        return ratio_scalar(a, b)
    return bool(a.half) and not a.minute and not _is_measured(b) and b.value == a.hour


def clock_ratio(a: Clock, b: Ratio) -> bool:
    """Whether what may be a ratio, 5:10, is the same as what is one for sure, 1:2."""
    return a.may_be_ratio and same_ratio(a, b)


def _is_measured(a: Scalar) -> bool:
    return a.unit is not None and not is_label(a.unit)


def same_ratio(a: Ratio | Clock, b: Ratio | Clock) -> bool:
    """Whether two ratios are proportional: 2:4 is 1:2."""
    first = _parts(a)
    second = _parts(b)
    if len(first) != len(second):
        return False
    # By every pair of parts: beside a first part of 0, products with it alone are all 0.
    field = Field()
    return all(
        field.equal(field.multiply(first[i], second[k]), field.multiply(first[k], second[i]))
        for i, k in combinations(range(len(first)), 2)
    )


def ratio_scalar(a: Ratio | Clock, b: Scalar) -> bool:
    """Whether a ratio of two is a number: 1:2 is 1/2."""
    parts = _parts(a)
    if len(parts) != 2 or parts[1] == 0 or _is_measured(b):
        return False
    field = Field()
    return field.equal(field.divide(*parts), b.value)


def _parts(a: Ratio | Clock) -> list[Value]:
    if isinstance(a, Clock):
        return [Fraction(a.hour), Fraction(a.minute)]
    if any(part.is_opaque for part in a.parts):
        raise Unread("a ratio of what has no exact value")
    values = [part.value for part in a.parts]
    if not any(values):
        raise Undefined("a ratio of nothing, which is proportional to every other")
    return values


def with_colons(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return `3 to 4` as the ratio that it is, `3:4`; anything else as it is."""
    is_ratio = len(tokens) % 2 == 1 and all(
        token.text == "to" if at % 2 else token.kind == "number" for at, token in enumerate(tokens)
    )
    return [Token("sign", ":") if t.text == "to" else t for t in tokens] if is_ratio else tokens


def read_based(tokens: Sequence[Token]) -> Based | None:
    r"""Return the number that stands before its base, `1011_2`; None for another answer.

    The base may be a word, `1011_{\text{two}}`, and be called so: `1011 \text{ (base 2)}`.
    """
    tokens = _with_subscript(tokens)
    texts = [token.text for token in tokens]
    if "_" not in texts:
        return None
    if texts[0] == "(" and texts.count("(") == 1 and texts[texts.index("_") - 1] == ")":
        tokens = [token for token in tokens if token.text not in ("(", ")")]
        texts = [token.text for token in tokens]
    at = texts.index("_")
    base = "".join(texts[at + 1 :]).strip("{}")
    base = _BASES.get(base.casefold(), base)
    digits = "".join(texts[:at]).lstrip("-")
    kinds = {token.kind for token in tokens[:at] if token.text != "-"}
    if not base.isdecimal() or not digits[:1].isdecimal() or not kinds <= _OF_DIGITS:
        return None
    if not _is_base(base, digits):
        if kinds == {"number"}:
            raise Undefined("a digit that is not below its base, or no base")
        return None
    return Based(digits.upper(), int(base), texts[0] == "-")


def _with_subscript(tokens: Sequence[Token]) -> Sequence[Token]:
    r"""Return `1011 \text{ (base 2)}` as `1011_2`."""
    rest = [token for token in tokens[1:] if token.text not in ("(", ")")]
    says_base = len(rest) == 3 and rest[0].text in ("in", ",") and rest[1].text == "base"
    rest = rest[1:] if says_base else rest
    if len(rest) != 2 or rest[0].text != "base" or rest[0].kind != "word":
        return tokens
    return [tokens[0], Token("sign", "_"), rest[1]]


def _is_base(base: str, digits: str) -> bool:
    """Whether a number may be a base, and all digits are below it."""
    if len(base) > 2 or not 2 <= int(base) <= 36:
        return False
    try:
        int(digits.replace(".", "", 1), int(base))
    except ValueError:
        return False
    return True
