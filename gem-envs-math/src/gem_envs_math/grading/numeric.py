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
from typing import Any

from gem_envs_math.grading.limits import Undefined, Unread

__all__ = ["FLOATS", "POINTS", "At", "Kit", "digits"]

_LARGEST = 1e200
_POSITIVE, _NEGATIVE, _MIXED = (1, 1), (-1, -1), (1, -1)  # the signs that a symbol may have
_POINTS = (
    (_POSITIVE, Fraction(1)),
    (_POSITIVE, Fraction(20)),
    (_POSITIVE, Fraction(1, 5)),
    (_POSITIVE, Fraction(300)),
    (_NEGATIVE, Fraction(1)),
    (_MIXED, Fraction(1)),
    (_MIXED, Fraction(20)),
)
POINTS = len(_POINTS)
"""How many points two expressions are compared at: of several sizes, for roots and logarithms."""


@dataclass(frozen=True, eq=False)  # hashed by identity: there are two
class Kit:
    """The numbers of one library. Any: a float here is a number of mpmath there.

    `error` bounds that of a value, relative to the third power of the largest size that was met;
    `proves` says whether it is so small that values that agree are taken for equal.
    """

    error: float
    proves: bool
    number: Callable[[int | Fraction], Any]
    constants: Mapping[str, Any]
    functions: Mapping[str, Callable[[Any], Any]]


FLOATS = Kit(
    error=1e-12,
    proves=False,
    number=lambda number: complex(float(number)),
    constants={"e": complex(math.e), "\\pi": complex(math.pi), "i": 1j},
    functions={
        name: getattr(cmath, python)
        for name, python in (
            *((name, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp")),
            *(("arcsin", "asin"), ("arccos", "acos"), ("arctan", "atan"), ("ln", "log")),
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
    return Kit(
        error=1e-190,
        proves=True,
        number=lambda number: context.mpc(context.mpf(number.numerator) / number.denominator),
        constants={
            "e": context.mpc(context.e),
            "\\pi": context.mpc(context.pi),
            "i": context.mpc(1j),
        },
        functions=functions | {"ln": context.log},
    )


class At:
    """The arithmetic of one expression at point number `point`: the protocol that Field has too.

    `scale` is the largest size that was met, of divisors' inverses too. Raises Unread for
    what has no value here; ArithmeticError and ValueError may come from the numbers themselves.
    """

    def __init__(self, point: int, kit: Kit = FLOATS) -> None:
        self.point = point
        self.kit = kit
        self.scale = 1.0

    def number(self, number: int | Fraction) -> Any:
        return self._seen(self.kit.number(number))

    def symbol(self, name: str) -> Any:
        if name in self.kit.constants:
            return self.kit.constants[name]
        if name == "\\infty":
            raise Unread("infinity is no number")
        rng = random.Random(f"{self.point} {name}".encode("utf-8", "replace"))
        signs, size = _POINTS[self.point]
        return self.kit.number(rng.choice(signs) * size * Fraction(rng.randrange(400, 2400), 1009))

    def add(self, a: Any, b: Any) -> Any:
        return self._seen(a + b)

    def negate(self, a: Any) -> Any:
        return -a

    def multiply(self, a: Any, b: Any) -> Any:
        return self._seen(a * b)

    def divide(self, a: Any, b: Any) -> Any:
        self._seen(1 / b)
        return self._seen(a / b)

    def power(self, base: Any, exponent: Any) -> Any:
        if not base and exponent.real <= 0:
            raise Undefined("0 to the power of 0 or less")
        if base.real < 0 and not base.imag and exponent.real != int(exponent.real):
            raise Unread("the power of a negative number is not defined")
        self._seen(exponent)
        return self._seen(base**exponent)

    def root(self, degree: int, a: Any) -> Any:
        if a.imag:
            raise Unread("which root of a complex number is meant is not known")
        if a.real < 0:
            if degree % 2:
                return -self.root(degree, -a)
            raise Unread("the root of a negative number is not defined")
        return self._seen(a ** (1 / self.kit.number(degree)))

    def call(self, name: str, *arguments: Any) -> Any:
        if len(arguments) != 1:
            raise Unread(f"{name} has no value here")
        argument = arguments[0]
        if name in ("cot", "sec", "csc"):
            over, under = {"cot": ("cos", "sin"), "sec": ("", "cos"), "csc": ("", "sin")}[name]
            above = self.call(over, argument) if over else self.kit.number(1)
            return self.divide(above, self.call(under, argument))
        if name == "log":
            return self.divide(self.call("ln", argument), self.call("ln", self.kit.number(10)))
        if name not in self.kit.functions:
            raise Unread(f"{name} has no value here")
        if not self._is_defined(name, argument):
            raise Unread(f"{name} is not defined here")
        self._seen(argument)
        return self._seen(self.kit.functions[name](argument))

    def absolute(self, a: Any) -> Any:
        return self.kit.number(1) * abs(a)

    def floor(self, a: Any) -> Any:
        raise Unread("a number with an error is not rounded")

    def factorial(self, a: Any, step: int = 1) -> Any:
        product = self.kit.number(1)
        for factor in range(_small(a), 1, -step):
            product = self.multiply(product, self.kit.number(factor))
        return product

    def binomial(self, a: Any, b: Any) -> Any:
        return self.number(math.comb(_small(a), _small(b)))

    @staticmethod
    def _is_defined(name: str, argument: Any) -> bool:
        if argument.imag:
            return name not in ("ln", "arcsin", "arccos", "arctan")
        if name == "ln":
            return bool(argument.real > 0)
        return name not in ("arcsin", "arccos") or bool(abs(argument) <= 1)

    def _seen(self, a: Any) -> Any:
        size = abs(a)
        if not size <= _LARGEST:
            raise OverflowError("a number without bound")
        self.scale = max(self.scale, float(size))
        return a


def _small(a: Any) -> int:
    if a.imag or not 0 <= a.real <= 100 or a.real != int(a.real):
        raise Unread("no whole number, or too large a one")
    return int(a.real)
