"""Do arithmetic in real and complex numbers at a point: enough to tell that expressions differ.

A point gives each symbol a real value. What is not defined there (the root or the logarithm of
a negative number) raises Unread: two formulas are compared where both are defined.
"""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from gem_envs_math.grading.limits import Undefined, Unread

__all__ = [
    "FLOATS",
    "INTEGERS",
    "POINTS",
    "POSITIVE",
    "SIZES",
    "WHOLE",
    "At",
    "Kit",
    "Measured",
    "digits",
]

_LARGEST = 1e200
_LARGEST_POWER = 1e6
_QUOTIENTS = {"cot": ("cos", "sin"), "sec": ("", "cos"), "csc": ("", "sin")}
_QUOTIENTS |= {"coth": ("cosh", "sinh"), "sech": ("", "cosh"), "csch": ("", "sinh")}
_POINTS: tuple[tuple[int, int | None, Fraction], ...] = (
    (1, None, Fraction(1)),
    (-1, None, Fraction(1)),
    (1, None, Fraction(20)),
    (1, None, Fraction(1, 5)),
    (1, None, Fraction(300)),
    (1, None, Fraction(10_000)),
    *((1, bit, Fraction(1)) for bit in range(5)),
)
"""A sign, the bit of a symbol's last character that turns it, and the size of the symbols.

Of two symbols that differ in their last characters, signs differ at some point.
"""

SIZES = 6
"""How many of the first points have symbols of every size, and of both signs."""

POSITIVE = (0, 2, 3, 4)
"""Points at which all symbols are positive, and none so large that functions overflow."""

POINTS = len(_POINTS)
"""How many points two expressions are compared at: of several sizes, for roots and logarithms."""

WHOLE = tuple(range(POINTS, POINTS + 24))
"""The points for what is defined at whole numbers alone: `(-1)^n`, `(2n)!`, n/2 rounded down.

At the first eight all symbols are whole numbers, at the others only those of `_INTEGERS`.
"""

_FIRST = range(3, 11)  # each symbol is each of these at one of the first eight points
_INTEGERS = frozenset("nmkijlpqrNMK")
"""The letters that integers have by custom: for x, rounding down is no rounding up."""

INTEGERS = WHOLE[len(_FIRST) :]
"""The points for whole numbers at which no symbol is one but those of `_INTEGERS`."""

_SPANS = (
    *(((1, 12),) * 8),
    *((12, 30), (12, 30), (30, 60), (30, 60)),
    *((1_000, 2_000), (1_000, 2_000), (20_000, 40_000), (20_000, 40_000)),
)
"""Between which numbers symbols are at the points after the first eight."""


@dataclass(frozen=True, eq=False)  # hashed by identity: there are two
class Kit:
    """The numbers of one library. Any: a float here is a number of mpmath there.

    `epsilon` bounds the relative error of one operation; `proves` says whether it is so small
    that values that agree are taken for equal.
    """

    epsilon: float
    proves: bool
    number: Callable[[int | Fraction], Any]
    constants: Mapping[str, Any]
    functions: Mapping[str, Callable[[Any], Any]]


class Measured(NamedTuple):
    """A number, and how far from the true value it is at most."""

    number: Any
    error: float


FLOATS = Kit(
    epsilon=1e-15,
    proves=False,
    number=lambda number: complex(float(number)),
    constants={"e": complex(math.e), "\\pi": complex(math.pi), "i": 1j},
    functions={
        name: getattr(cmath, python)
        for name, python in (
            *((name, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp")),
            *(("arcsin", "asin"), ("arccos", "acos"), ("arctan", "atan"), ("ln", "log")),
            *(("arcsinh", "asinh"), ("arccosh", "acosh"), ("arctanh", "atanh")),
        )
    },
)
"""Python's own numbers: 15 digits."""


@lru_cache(maxsize=1)
def digits() -> Kit:
    """Return numbers of 200 digits. Needs mpmath, which math-verify brings."""
    import mpmath  # heavy: 0.1 s

    context = mpmath.mp.clone()
    context.dps = 200
    names = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp")
    functions = {name: getattr(context, name) for name in names}
    functions |= {"arcsin": context.asin, "arccos": context.acos, "arctan": context.atan}
    functions |= {"\\Gamma": context.gamma, "\\zeta": context.zeta}
    functions |= {"arcsinh": context.asinh, "arccosh": context.acosh, "arctanh": context.atanh}
    return Kit(
        epsilon=1e-198,
        proves=True,
        number=lambda number: context.mpf(number.numerator) / number.denominator,
        constants={
            "e": context.mpf(context.e),
            "\\pi": context.mpf(context.pi),
            "i": context.mpc(1j),
        },
        functions=functions | {"ln": context.log},
    )


class At:
    """The arithmetic of one expression at point number `point`: the protocol that Field has too.

    A value is a number with a bound of its error. Raises Unread for what has no value here;
    ArithmeticError and ValueError may come from the numbers themselves.
    """

    def __init__(self, point: int, kit: Kit = FLOATS) -> None:
        self.point = point
        self.kit = kit

    def number(self, number: int | Fraction) -> Measured:
        value = self.kit.number(number)
        if abs(number) == 1:
            return Measured(value, 0.0)  # exact: beside it an inverse function may have no value
        return self._rounded(value)

    def symbol(self, name: str) -> Measured:
        if name in self.kit.constants:
            return self._rounded(self.kit.constants[name])
        if name == "\\infty":
            raise Unread("infinity is no number")
        if self.point in WHOLE:
            return self.number(_nearly_whole(name, self.point - POINTS))
        rng = random.Random(f"{self.point} {name}".encode("utf-8", "replace"))
        sign, bit, size = _POINTS[self.point]
        if bit is not None and ord(name[-1]) >> bit & 1:
            sign = -sign
        return self.number(sign * size * Fraction(rng.randrange(400, 2400), 1009))

    def add(self, a: Measured, b: Measured) -> Measured:
        return self._rounded(a.number + b.number, a.error + b.error)

    def negate(self, a: Measured) -> Measured:
        return Measured(-a.number, a.error)

    def multiply(self, a: Measured, b: Measured) -> Measured:
        error = _size(a) * b.error + _size(b) * a.error + a.error * b.error
        return self._rounded(a.number * b.number, error)

    def divide(self, a: Measured, b: Measured) -> Measured:
        least = _size(b) - b.error
        if least <= 0:
            raise Undefined("a division by what may be zero")
        quotient = a.number / b.number
        return self._rounded(quotient, (a.error + float(abs(quotient)) * b.error) / least)

    def power(self, base: Measured, exponent: Measured) -> Measured:
        power = exponent.number
        is_whole = not power.imag and power.real == int(power.real)
        if not base.number and power.real <= 0:
            raise Undefined("0 to the power of 0 or less")
        if is_whole and abs(power.real) <= _LARGEST_POWER and not base.number.imag:
            exponent = Measured(power, 0.0)  # meant exactly: an error would leave the reals
        elif base.number.real < 0 and not base.number.imag:
            raise Unread("the power of a negative number is not defined")
        raised = self._applied(lambda x: x**power, base)
        return self._rounded(raised.number, raised.error + self._drift(base, raised, exponent))

    def root(self, degree: int, a: Measured) -> Measured:
        if a.number.imag:
            raise Unread("which root of a complex number is meant is not known")
        if a.number.real < 0:
            if degree % 2:
                return self.negate(self.root(degree, self.negate(a)))
            raise Unread("the root of a negative number is not defined")
        return self._applied(lambda x: x ** (1 / self.kit.number(degree)), a)

    def call(self, name: str, *arguments: Measured) -> Measured:
        if len(arguments) != 1:
            raise Unread(f"{name} has no value here")
        argument = arguments[0]
        if name in _QUOTIENTS:
            over, under = _QUOTIENTS[name]
            above = self.call(over, argument) if over else self.number(1)
            return self.divide(above, self.call(under, argument))
        if name == "log":
            return self.divide(self.call("ln", argument), self.call("ln", self.number(10)))
        if name not in self.kit.functions or not _is_defined(name, argument.number):
            raise Unread(f"{name} has no value here")
        return self._applied(self.kit.functions[name], argument)

    def absolute(self, a: Measured) -> Measured:
        return Measured(self.kit.number(1) * abs(a.number), a.error)

    def floor(self, a: Measured) -> Measured:
        number = a.number.real
        if self.point not in WHOLE or a.number.imag:
            raise Unread("rounding is not compared at any number")
        below = int(number) - (number < int(number))
        nearest = below + (2 * (number - below) > 1)
        is_whole = abs(number - nearest) <= a.error
        if is_whole and not self.kit.proves:
            raise Unread("a number with an error is not rounded")
        return self.number(nearest if is_whole else below)

    def factorial(self, a: Measured, step: int = 1) -> Measured:
        product = self.number(1)
        for factor in range(_small(a), 1, -step):
            product = self.multiply(product, self.number(factor))
        return product

    def binomial(self, a: Measured, b: Measured) -> Measured:
        return self.number(math.comb(_small(a), _small(b)))

    def _rounded(self, number: Any, error: float = 0.0) -> Measured:
        size = float(abs(number))
        if not (size <= _LARGEST and error <= _LARGEST):
            raise OverflowError("a number without bound")
        if number and size < 1 / _LARGEST:
            raise OverflowError("a number whose error would be lost")
        return Measured(number, error + self.kit.epsilon * size)

    def _applied(self, function: Callable[[Any], Any], a: Measured) -> Measured:
        """Apply a function that is smooth here, or whose argument has no error.

        The error grows as the function does.
        """
        number = function(a.number)
        moved = function(a.number + self.kit.number(Fraction(a.error)))
        return self._rounded(number, 2 * float(abs(moved - number)))

    def _drift(self, base: Measured, raised: Measured, exponent: Measured) -> float:
        """Return the error of a power that comes from its exponent's."""
        if not exponent.error or not base.number:
            return 0.0
        return (
            2 * _size(raised) * float(abs(self.kit.functions["ln"](base.number))) * exponent.error
        )


def _nearly_whole(name: str, number: int) -> int | Fraction:
    """Return what a symbol is at a point for whole numbers."""
    if number < len(_FIRST):
        rng = random.Random(name.encode("utf-8", "replace"))
        start = rng.randrange(8)
        stride = rng.choice((1, 3, 5, 7))  # odd, so that every value of the eight is met
        return _FIRST[(start + number * stride) % len(_FIRST)]
    rng = random.Random(f"{number} {name}".encode("utf-8", "replace"))
    whole = rng.randrange(*_SPANS[number - len(_FIRST)])
    if name[0] in _INTEGERS:
        return whole
    return whole + (Fraction(rng.randrange(1, 1009), 1009) if number % 2 else Fraction(1, 2))


def _is_defined(name: str, argument: Any) -> bool:
    if argument.imag:
        return not name.startswith(("arc", "\\")) and name != "ln"
    if name in ("ln", "\\Gamma"):
        return bool(argument.real > 0)
    if name == "\\zeta":
        return bool(argument.real > 1)
    if name == "arccosh":
        return bool(argument.real >= 1)
    if name == "arctanh":
        return bool(abs(argument) < 1)
    return name not in ("arcsin", "arccos") or bool(abs(argument) <= 1)


def _size(a: Measured) -> float:
    return float(abs(a.number))


def _small(a: Measured) -> int:
    real = a.number.real
    if a.number.imag or not 0 <= real <= 100 or real != int(real):
        raise Unread("no whole number, or too large a one")
    return int(real)
