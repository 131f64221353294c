"""The units that are known by name: what each measures, and how much of that it is.

A unit is a product of powers of bases and an exact number, so converting is exact. What has no
exact factor (a year in days, the dalton in grams) is a base of its own. Knows nothing about LaTeX.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from gem_envs_math.grading.units.table import CURRENCIES, NO_UNITS, PREFIXES, UNITS

__all__ = [
    "COUNTS",
    "DEGREE",
    "LABEL",
    "PERCENT",
    "STRANGE",
    "Unit",
    "is_label",
    "is_money",
    "is_near_unit",
    "is_price_in",
    "known",
    "product",
]


class Unit(NamedTuple):
    """Powers of bases in the bases' order, and how many of their product one of this unit is.

    `factor` is without the power of pi, which `turns` is: a degree is 1/180 times pi to the 1.
    `money` is how much of its currency a price is in: 1/100 for cents per hour; None for others.
    """

    dimension: tuple[tuple[str, int], ...]
    factor: Fraction = Fraction(1)
    turns: int = 0
    money: Fraction | None = None


LABEL = Unit((("label", 1),))
"""Words that say nothing about the value: `teachers`."""


def is_label(unit: Unit | None) -> bool:
    """Whether a unit is words that say nothing, or `units` to a power."""
    return unit is not None and len(unit.dimension) == 1 and unit.dimension[0][0] == "label"


STRANGE = Unit((("strange", 1),))
"""What looks like a unit and is none that is known: `kkm`. It is no unit that is known."""

PERCENT = Unit((("percent", 1),))
DEGREE = Unit((("rad", 1),), Fraction(1, 180), 1)

COUNTS = frozenset(("rad", "cycle", "decay"))
"""Bases that may be left out beside others: rad/s, Hz and Bq are all 1/s, and none another."""

_POWERS_OF_TEN = dict(PREFIXES.values())
_POWERS_OF_TEN["u"] = _POWERS_OF_TEN["µ"]  # where Greek is missing
_USUAL = tuple("TGMkdcmµunpfa")
_SHORTEST_NAME = 4
_NEAR = 5  # letters of a unit's name that are no end of another word
_LONGEST_NAME = 40


class _Names(NamedTuple):
    """What is read from the table: symbols with their prefixes, and long names."""

    symbols: dict[str, Unit]
    prefixes: dict[str, tuple[str, ...]]
    names: dict[str, Unit]
    prefixed_names: dict[str, Unit]


def product(factors: list[tuple[Unit, int]]) -> Unit:
    """Return the product of units with their exponents."""
    if len(factors) == 1 and factors[0][1] == 1:
        return factors[0][0]
    powers: dict[str, int] = {}
    factor = Fraction(1)
    turns = 0
    for unit, exponent in factors:
        for base, power in unit.dimension:
            powers[base] = powers.get(base, 0) + power * exponent
        factor *= unit.factor**exponent
        turns += unit.turns * exponent
    dimension = tuple(sorted((base, power) for base, power in powers.items() if power))
    return Unit(dimension, factor, turns, _money(factors))


def _money(factors: list[tuple[Unit, int]]) -> Fraction | None:
    """Return how much of its currency a price is in: an amount of money, per something."""
    amounts = []
    for unit, exponent in factors:
        is_below = exponent < 0 or all(power < 0 for _, power in unit.dimension)
        if exponent == 1 and (is_money(unit) or unit.money is not None):
            amounts.append(unit.factor if is_money(unit) else unit.money)
        elif not is_below:
            return None
    return amounts[0] if len(amounts) == 1 else None


@lru_cache(maxsize=1)
def _names() -> _Names:
    """Read the table: once in a process, at the first unit, in about a millisecond."""
    table = _Names({}, {}, {}, {})
    for line in UNITS.strip().splitlines():
        symbols, prefixes, names, meaning = (part.strip() for part in line.split("|"))
        unit = _defined(meaning)
        allowed = {"*": tuple(_POWERS_OF_TEN), "+": _USUAL}.get(prefixes, tuple(prefixes.split()))
        for symbol in symbols.split():
            table.symbols[symbol] = unit
            table.prefixes[symbol] = allowed
            if len(symbol) >= _SHORTEST_NAME:
                table.names[symbol.casefold()] = unit
        for name in names.split():
            (table.prefixed_names if allowed else table.names)[name] = unit
    return table


def _defined(meaning: str) -> Unit:
    factor, *bases = meaning.split()
    powers: dict[str, int] = {}
    for base in bases:
        name, _, power = base.partition("^")
        powers[name] = int(power or 1)
    turns = powers.pop("pi", 0)
    return Unit(tuple(sorted(powers.items())), Fraction(factor), turns)


def _ten(prefix: str) -> Fraction:
    return Fraction(10) ** _POWERS_OF_TEN[prefix]


def _times(unit: Unit, prefix: str) -> Unit:
    return unit._replace(factor=unit.factor * _ten(prefix))


@lru_cache(maxsize=2048)
def known(word: str) -> Unit | None:
    """Return the unit that a word is: a symbol in its own case, a name in any; None for another.

    >>> known("mm"), known("Kilometers") == known("km"), known("MW") == known("mW"), known("kkm")
    (Unit(dimension=(('m', 1),), factor=Fraction(1, 1000), turns=0, money=None), True, False, None)
    """
    if word in NO_UNITS:
        return None
    for reading in (_symbol, _name, _symbol_in_any_case):
        unit = reading(word)
        if unit is None and len(word) > 2 and word[-1] in "sS":
            unit = reading(word[:-1])
        if unit is not None:
            return unit
    return None


def _symbol(word: str) -> Unit | None:
    names = _names()
    unit = names.symbols.get(word)
    if unit is not None:
        return unit
    for size in (1, 2):
        prefix = word[:size]
        symbol = word[size:]
        if prefix in names.prefixes.get(symbol, ()):
            return _times(names.symbols[symbol], prefix)
    return None


def _name(word: str) -> Unit | None:
    names = _names()
    word = word.casefold()
    unit = names.names.get(word) or names.prefixed_names.get(word)
    if unit is not None:
        return unit
    for prefix_name, (prefix, _) in PREFIXES.items():
        rest = word[len(prefix_name) :]
        if word.startswith(prefix_name) and rest in names.prefixed_names:
            return _times(names.prefixed_names[rest], prefix)
    return None


def _symbol_in_any_case(word: str) -> Unit | None:
    """Return the only unit that is written so but for its case: `KM`, and not `MM`."""
    if not 1 < len(word) < 6:
        return None
    units = {_symbol(spelling) for spelling in _spellings(word)} - {None}
    return units.pop() if len(units) == 1 else None


def _spellings(word: str) -> list[str]:
    spellings = [""]
    for letter in word:
        spellings = [text + case for text in spellings for case in {letter.lower(), letter.upper()}]
    return spellings


def is_near_unit(word: str) -> bool:
    """Whether a word that is no known unit ends as one: `kilokilometers`."""
    names = _names()
    stem = word.casefold().removesuffix("s")
    starts = range(1, min(len(stem), _LONGEST_NAME) - _NEAR + 1)
    return any(stem[at:] in names.prefixed_names or stem[at:] in names.names for at in starts)


def is_money(unit: Unit | None) -> bool:
    """Whether a unit is an amount of a currency."""
    return unit is not None and len(unit.dimension) == 1 and unit.dimension[0][0] in CURRENCIES


def is_price_in(money: Unit, price: Unit) -> bool:
    """Whether a unit is an amount of a currency, and another is a price in it: dollars per hour."""
    return is_money(money) and price.money is not None and money.dimension[0] in price.dimension
