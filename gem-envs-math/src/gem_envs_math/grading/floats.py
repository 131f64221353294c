"""Do arithmetic in complex floats at a point: enough to tell that two expressions differ.

Never enough to tell that they are equal.
"""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Callable
from fractions import Fraction

from gem_envs_math.grading.limits import Undefined, Unread

__all__ = ["POINTS", "Floats"]

POINTS = 3
"""How many points two expressions are compared at."""

_CONSTANTS = {"e": complex(math.e), "\\pi": complex(math.pi), "i": 1j}

_FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sin": cmath.sin,
    "cos": cmath.cos,
    "tan": cmath.tan,
    "cot": lambda x: 1 / cmath.tan(x),
    "sec": lambda x: 1 / cmath.cos(x),
    "csc": lambda x: 1 / cmath.sin(x),
    "arcsin": cmath.asin,
    "arccos": cmath.acos,
    "arctan": cmath.atan,
    "sinh": cmath.sinh,
    "cosh": cmath.cosh,
    "tanh": cmath.tanh,
    "ln": cmath.log,
    "log": cmath.log10,
    "exp": cmath.exp,
    "abs": lambda x: complex(abs(x)),
}


class Floats:
    """The arithmetic of one expression at point number `point`: the protocol that Field has too.

    `scale` is the largest size that was met, of divisors' inverses too: the error of a value is
    far below 1e-12 * scale**3. Raises Unread for what has no value here; OverflowError,
    ZeroDivisionError and ValueError may come from Python's own arithmetic.
    """

    def __init__(self, point: int) -> None:
        self.point = point
        self.scale = 1.0

    def number(self, number: int | Fraction) -> complex:
        return self._seen(complex(float(number)))

    def symbol(self, name: str) -> complex:
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        size = random.Random(f"{self.point} {name}".encode("utf-8", "replace")).uniform(0.4, 2.4)
        return complex(size if self.point % 2 == 0 else -size)

    def add(self, a: complex, b: complex) -> complex:
        return self._seen(a + b)

    def negate(self, a: complex) -> complex:
        return -a

    def multiply(self, a: complex, b: complex) -> complex:
        return self._seen(a * b)

    def divide(self, a: complex, b: complex) -> complex:
        self._seen(1 / b)
        return self._seen(a / b)

    def power(self, base: complex, exponent: complex) -> complex:
        if not base and exponent.real <= 0:
            raise Undefined("0 to the power of 0 or less")
        self._seen(exponent)
        if base.real < 0 and not base.imag and exponent.real % 1:
            raise Unread("which root of a negative number is meant is not known")
        return self._seen(base**exponent)

    def root(self, degree: int, a: complex) -> complex:
        if degree > 2 and a.imag:
            raise Unread("which root of a complex number is meant is not known")
        if a.real < 0 and degree % 2:
            return -self.root(degree, -a)
        return self._seen(a ** (1 / degree))

    def call(self, name: str, *arguments: complex) -> complex:
        if name not in _FUNCTIONS or len(arguments) != 1:
            raise Unread(f"{name} has no value in floats")
        return self._seen(_FUNCTIONS[name](self._seen(arguments[0])))

    def absolute(self, a: complex) -> complex:
        return complex(abs(a))

    def floor(self, a: complex) -> complex:
        raise Unread("a float is too rough to be rounded")

    def factorial(self, a: complex, step: int = 1) -> complex:
        if a.imag or a.real % 1 or not 0 <= a.real <= 100:
            raise Unread("no factorial in floats")
        return self._seen(complex(math.prod(range(int(a.real), 1, -step))))

    def binomial(self, a: complex, b: complex) -> complex:
        if any(part.imag or part.real % 1 or not 0 <= part.real <= 100 for part in (a, b)):
            raise Unread("no binomial coefficient in floats")
        return self._seen(complex(math.comb(int(a.real), int(b.real))))

    def _seen(self, a: complex) -> complex:
        if not cmath.isfinite(a):
            raise OverflowError("a float without bound")
        self.scale = max(self.scale, abs(a))
        return a
