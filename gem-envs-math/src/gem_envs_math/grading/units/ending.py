r"""Find the unit at the end of an answer's tokens and take it off.

A unit that is known has a dimension and a factor: 2 hours are 120 minutes, and no kilograms.
Other words after a number are a label (`81 teachers`): they say nothing about its value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.text.tokens import CLOSERS, OPENERS, Token
from gem_envs_math.grading.units.grammar import (
    MICRO,
    SIGNS,
    is_degree,
    is_ideographic,
    read_bare_unit,
    read_unit,
    stands_bare,
)
from gem_envs_math.grading.units.measures import (
    PERCENT,
    STRANGE,
    Unit,
    is_label,
    is_money,
    known,
    product,
)
from gem_envs_math.grading.units.table import SCALES

__all__ = ["Split", "split_bare_unit", "split_unit"]


class Split(NamedTuple):
    """The tokens before a unit, the unit if there is one, and a scale such as thousand."""

    number: Sequence[Token]
    unit: Unit | None = None
    scale: int = 1


_TELLING = SIGNS | MICRO | {"\\circ"}
_PLAIN = frozenset(("\\frac", "\\pi", "\\sqrt"))
_CURRENCY_SIGNS = {"$": "dollar", "\\pounds": "sterling", "\\euro": "euro", "\\yen": "yen"}
_MOST_STARTS = 4
_MOST_SCALES = 4


def split_unit(tokens: Sequence[Token]) -> Split:
    r"""Return the tokens before the unit, the unit if there is one, and a scale.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> split_unit(tokenize(r"15\mbox{ cm}^2"))[1:]
    (Unit(dimension=(('m', 2),), factor=Fraction(1, 10000), turns=0, money=None), 1)
    """
    if len(tokens) > 2 and tokens[0].text == "-" and _currency(tokens[1]) is not None:
        amount = split_unit(tokens[1:])
        return amount._replace(number=[tokens[0], *amount.number])
    currency = _currency(tokens[0]) if len(tokens) > 1 else None
    if currency is not None:
        return _priced(currency, split_unit(_with_price(tokens[1:])))
    if len(tokens) > 1 and tokens[-1].text == "%":
        return Split(tokens[:-1], PERCENT)
    if len(tokens) > 1 and tokens[-1].text in ("'", '"'):
        return _primed(tokens)
    if not any(_is_telling(token) for token in tokens):
        return Split(tokens)
    for start in _starts(tokens):
        split = _split_at(tokens, start)
        if split is not None:
            return split
    return Split(tokens)


def split_bare_unit(tokens: Sequence[Token]) -> Split | None:
    r"""Return the split of `5 m/s` if its letters are units and no symbols, else None.

    For an answer beside another one whose unit stands in text. Both readings count there.
    """
    starts = (at for at in range(1, len(tokens)) if _may_start_bare(tokens[at]))
    for _, start in zip(range(_MOST_STARTS), starts, strict=False):
        try:
            return Split(tokens[:start], read_bare_unit(tokens, start))
        except Unread:
            continue
    return None


def _with_price(tokens: Sequence[Token]) -> Sequence[Token]:
    r"""Return what stands after a currency with the unit of a price in words: `\$3/lb`."""
    is_price = len(tokens) > 2 and tokens[-2].text == "/" and known(tokens[-1].text) is not None
    return [*tokens[:-1], tokens[-1]._replace(kind="word")] if is_price else tokens


def _primed(tokens: Sequence[Token]) -> Split:
    """Take `'`, `''` and `"` off a number: feet or minutes, and so no unit with a name."""
    marks = 1 if tokens[-1].text == '"' else sum(token.text == "'" for token in tokens[-2:])
    power = 2 if tokens[-1].text == '"' else marks
    number = [token for token in tokens[:-marks] if token.text != "-"]
    is_number = len(number) == 1 and number[0].kind == "number"
    return Split(tokens[:-marks], Unit((("'", power),))) if is_number else Split(tokens)


def _may_start_bare(token: Token) -> bool:
    return token.kind in ("letters", "command") or token.text in ("(", "{")


def _is_telling(token: Token) -> bool:
    """Whether a token can belong to a unit and to few other things: most answers have none."""
    if token.kind == "letters":
        return len(token.text) > 1 or not token.text.isascii()
    return token.kind == "word" or token.text in _TELLING


def _currency(token: Token) -> Unit | None:
    name = _CURRENCY_SIGNS.get(token.text)
    if name is not None:
        return known(name)
    unit = known(token.text) if token.kind == "word" else None
    return unit if is_money(unit) else None


def _priced(currency: Unit, split: Split) -> Split:
    """Return an amount of money with a currency before it, and what it is for after it."""
    unit = split.unit
    if unit in (None, currency) or is_label(unit):
        return split._replace(unit=currency)
    assert unit is not None
    is_price = all(power < 0 for _, power in unit.dimension)
    return split._replace(unit=product([(currency, 1), (unit, 1)]) if is_price else STRANGE)


def _starts(tokens: Sequence[Token]) -> Iterator[int]:
    """Return where a unit may start: outside of brackets, after a number."""
    starts = depth = 0
    has_words = False  # words before: then one letter in text is a symbol too
    for at, token in enumerate(tokens):
        is_outside = not depth and at > 0 and tokens[at - 1].text not in ("^", "_")
        is_symbol = has_words and len(token.text) == 1 and token.kind == "word"
        if is_outside and not is_symbol and _may_start(tokens, at):
            starts += 1
            yield at
            if starts == _MOST_STARTS:
                return
        depth += (token.text in OPENERS) - (token.text in CLOSERS)
        has_words |= token.kind == "word"


def _may_start(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    before = tokens[at - 1]
    if token.kind == "word":
        is_unit = known(token.text) is not None or _is_kilohm(tokens, at)
        return len(token.text) > 1 or is_unit or is_ideographic(token.text)
    if token.kind == "letters":
        if _is_kilohm(tokens, at):
            return _is_plain(tokens[:at])
        if token.text in ("per", "sq", "cu"):
            return any(known(after.text) is not None for after in tokens[at + 1 : at + 2])
        if token.text == "of" and token.spaced:
            return any(after.kind == "letters" for after in tokens[at + 1 : at + 2])
        is_near = before.kind in ("number", "word", "letters") or before.text in ("}", ")")
        return stands_bare(token, is_near_number=is_near)
    if token.text in SIGNS or is_degree(tokens, at):
        return _is_plain(tokens[:at])
    if token.text in MICRO:
        after = tokens[at + 1 : at + 2]
        return bool(after) and (after[0].kind == "word" or after[0].text in SIGNS)
    is_group = token.text in ("(", "{", "\\frac")
    return is_group and (before.kind == "number" or before.text in "})") and _opens_unit(tokens, at)


def _opens_unit(tokens: Sequence[Token], at: int) -> bool:
    r"""Whether a word or a 1 is the first in a group: `(m/s)`, `\frac{1}{\text{s}}`."""
    while tokens[at].text in ("(", "{", "\\frac") and at + 1 < len(tokens):
        at += 1
    return tokens[at].kind in ("word", "letters") or tokens[at].text == "1"


def _is_kilohm(tokens: Sequence[Token], at: int) -> bool:
    after = tokens[at + 1 : at + 2]
    return tokens[at].text in "kMGmn" and bool(after) and after[0].text in ("\\Omega", "\\ohm")


def _is_plain(tokens: Sequence[Token]) -> bool:
    r"""Whether tokens are a number: the degrees of `\cos 15^\circ` are the function's."""
    return all(
        token.text in _PLAIN or token.kind not in ("command", "letters", "word") for token in tokens
    )


def _split_at(tokens: Sequence[Token], start: int) -> Split | None:
    if tokens[start - 1].text == "/":
        start -= 1  # 5/s: the quotient is the unit's
    number = tokens[: start - 1] if tokens[start - 1].text == "*" else tokens[:start]
    if all(token.kind == "word" for token in number):
        return None  # no number
    scale = 1
    for _ in range(_MOST_SCALES):
        scaling = SCALES.get(tokens[start].text.casefold().removesuffix("s"), 0)
        if not scaling:
            break
        scale *= scaling
        start += 1
        if start == len(tokens):
            return Split(number, None, scale)
    try:
        return Split(number, read_unit(tokens, start), scale)
    except Unread:
        return None
