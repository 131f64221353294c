r"""Do arithmetic exactly where a number is rational, else in a finite field at a random point.

Every symbol is a random element of the field of p squared elements, p a random prime of 120
bits, as the roots of primes and the imaginary unit are elements of it: their relations are those
of the numbers. Expressions that are equal have equal values; expressions that differ have equal
values with a probability below 2**-90 (Schwartz, Zippel). No number grows.

What has no place in a field (a sine, the root of a sum) is a random element that its name and
its arguments fix; `is_opaque` then says that unequal values may still be equal numbers.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from gem_envs_math.grading.arithmetic.angles import FULL_TURN, TRIGONOMETRIC, Radicals, sine
from gem_envs_math.grading.arithmetic.radicals import primes_of, split_root
from gem_envs_math.grading.limits import BITS, FACTORIAL, TooLarge, Undefined
from gem_envs_math.grading.text.names import UNKNOWN_FUNCTIONS

__all__ = ["CONSTANTS", "Element", "Field", "Value"]

Element = tuple[int, int]
"""a + b i with i the root of -1, both modulo the prime."""

Value = int | Fraction | Element

CONSTANTS = frozenset(("e", "\\pi", "\\infty"))
"""Symbols that are the same number at every point."""

_SECRET = secrets.token_bytes(16)  # nobody can prepare an answer for this process's point


@lru_cache(maxsize=1)
def _prime() -> int:
    while True:
        candidate = secrets.randbits(120) | (1 << 119) | 3  # 3 modulo 4: -1 has no root
        if math.gcd(candidate, 223092870) == 1 and _is_prime(candidate):
            return candidate


def _is_prime(number: int) -> bool:
    """Whether a number that is 3 modulo 4 passes 20 rounds of Miller and Rabin's test."""
    half = number // 2
    powers = (pow(secrets.randbelow(number - 3) + 2, half, number) for _ in range(20))
    return all(power in (1, number - 1) for power in powers)


@lru_cache(maxsize=4096)
def _random_element(name: str, point: int) -> Element:
    text = f"{point} {name}".encode("utf-8", "surrogatepass")
    noise = hashlib.blake2b(text, key=_SECRET, digest_size=64).digest()
    return int.from_bytes(noise[:32], "big") % _prime(), int.from_bytes(
        noise[32:], "big"
    ) % _prime()


@lru_cache(maxsize=4096)
def _root_of_prime(prime: int) -> Element:
    p = _prime()
    root = pow(prime, (p + 1) // 4, p)
    return (root, 0) if root * root % p == prime % p else (0, root)


def _ln(prime: int) -> Element:
    return _random_element(f"ln {prime}", 0)


@lru_cache(maxsize=1)
def _multiples() -> dict[Element, int]:
    """Return the elements that the multiples of 15 degrees are, up to two turns, in radians."""
    p = _prime()
    a, b = _random_element("\\pi", 0)
    twelfth = pow(12, -1, p)
    turns = range(-2 * FULL_TURN, 2 * FULL_TURN + 1)
    return {(a * twelfth * k % p, b * twelfth * k % p): k for k in turns}


def _multiple(angle: Element) -> int | None:
    """Return how many times 15 degrees an angle is, None if it is not."""
    return _multiples().get(angle)


class Field:
    """The arithmetic of one expression at one of the process's random points.

    Every method takes and returns values; Undefined and TooLarge are raised as limits.py says.

    >>> field = Field()
    >>> x = field.symbol("x")
    >>> field.power(field.add(x, 1), 2) == field.add(field.multiply(x, field.add(x, 2)), 1)
    True
    """

    def __init__(self, point: int = 0, symbols: Mapping[str, Value] | None = None) -> None:
        self.point = point
        self.symbols = symbols or {}  # values to use instead of random ones
        self.is_opaque = False
        self.is_huge = False  # a whole number beyond BITS was reduced
        self.p = _prime()

    def number(self, number: int | Fraction) -> Value:
        return number

    def symbol(self, name: str) -> Value:
        if name in self.symbols:
            return self.symbols[name]
        if name == "i":
            return 0, 1
        return _random_element(name, 0 if name in CONSTANTS else self.point)

    def add(self, a: Value, b: Value) -> Value:
        if isinstance(a, tuple) or isinstance(b, tuple):
            a1, a2 = self.element(a)
            b1, b2 = self.element(b)
            return (a1 + b1) % self.p, (a2 + b2) % self.p
        return self._exact(a + b)

    def negate(self, a: Value) -> Value:
        return (-a[0] % self.p, -a[1] % self.p) if isinstance(a, tuple) else -a

    def multiply(self, a: Value, b: Value) -> Value:
        if isinstance(a, tuple) or isinstance(b, tuple):
            a1, a2 = self.element(a)
            b1, b2 = self.element(b)
            p = self.p
            return (a1 * b1 - a2 * b2) % p, (a1 * b2 + a2 * b1) % p
        return self._exact(a * b)

    def divide(self, a: Value, b: Value) -> Value:
        if isinstance(a, tuple) or isinstance(b, tuple):
            return self.multiply(self.element(a), self._inverse(self.element(b)))
        if not b:
            raise Undefined("a division by zero")
        return self._exact(Fraction(a, b))

    def power(self, base: Value, exponent: Value) -> Value:
        if isinstance(exponent, tuple):
            if self.is_huge:
                raise TooLarge("an exponent beyond every limit")
            return self._transcendental_power(base, exponent)
        if isinstance(exponent, Fraction):
            return self.power(self.root(exponent.denominator, base), exponent.numerator)
        if isinstance(base, tuple):
            return self._element_power(base, exponent)
        if not base and exponent <= 0:
            raise Undefined("0 to the power of 0 or less")
        if self._bits(base) * abs(exponent) <= BITS or base in (1, -1, 0):
            exponent = exponent % 2 if base in (1, -1) else exponent
            return self._exact(_power(base, exponent))
        self.is_huge = True
        return self._element_power(self.element(base), exponent)

    def root(self, degree: int, a: Value) -> Value:
        if degree < 1:
            raise Undefined("a root of no degree")
        if isinstance(a, tuple):
            return self.call(f"root {degree}", a) if degree > 1 else a
        if a < 0 and degree % 2:
            return self.negate(self.root(degree, -a))
        if a < 0 and degree > 2:
            return self.call(f"root {degree}", a)
        # The root of over/under is that of over * under**(degree - 1), divided by under.
        over = abs(a.numerator)
        under = a.denominator
        if (under.bit_length() - 1) * degree > BITS:
            raise TooLarge("a root of a fraction beyond every limit")
        outside, inside = split_root(degree, over * under ** (degree - 1))
        size = self.divide(outside, under)
        if inside > 1:
            size = self.multiply(size, self._irrational_root(degree, inside))
        return self.multiply((0, 1), size) if a < 0 else size

    def call(self, name: str, *arguments: Value) -> Value:
        """Return the value of a function about which nothing is known but its name.

        A function that a problem names, such as f, is any function: no other f(x) is equal.
        """
        if name in ("max", "min"):
            return self._extreme(name, arguments)
        known = self._known_call(name, arguments[0]) if len(arguments) == 1 else None
        if known is not None:
            return known
        is_unknown = name in UNKNOWN_FUNCTIONS or name == "E"
        self.is_opaque |= not is_unknown
        elements = ",".join(str(self.element(argument)) for argument in arguments)
        # The sine of 1 is one number; f(1) is another for each f, and so at each point.
        return _random_element(f"{name}({elements})", self.point if is_unknown else -1)

    def absolute(self, a: Value) -> Value:
        if isinstance(a, tuple):
            return self.call("abs", a)
        return a if a >= 0 else -a

    def floor(self, a: Value) -> Value:
        return self.call("floor", a) if isinstance(a, tuple) else math.floor(a)

    def factorial(self, a: Value, step: int = 1) -> Value:
        if isinstance(a, int) and a >= 0:
            product: Value = 1
            if a > FACTORIAL:
                raise TooLarge(f"the factorial of a number above {FACTORIAL}")
            for factor in range(a, 1, -step):
                product = self.multiply(product, factor)
            return product
        if self.is_huge:
            raise TooLarge("a factorial beyond every limit")
        return self.call(f"factorial {step}", a)

    def binomial(self, a: Value, b: Value) -> Value:
        if not (isinstance(a, int) and isinstance(b, int) and a >= 0 <= b):
            return self.call("binomial", a, b)
        if a > FACTORIAL:
            raise TooLarge(f"a binomial coefficient of a number above {FACTORIAL}")
        return self._exact(math.comb(a, b))

    def element(self, a: Value) -> Element:
        """Return a value as an element of the field."""
        if isinstance(a, tuple):
            return a
        if isinstance(a, int):
            return a % self.p, 0
        return a.numerator * pow(a.denominator, -1, self.p) % self.p, 0

    def equal(self, a: Value, b: Value) -> bool:
        """Whether two values are the same; exactly where both are rational."""
        if isinstance(a, tuple) or isinstance(b, tuple):
            return self.element(a) == self.element(b)
        return a == b

    def square_root(self, a: Element) -> Element | None:
        """Return one of the two square roots of any element, None where the field has none."""
        p = self.p
        quarter = (self.p + 1) // 4
        length = pow(a[0] * a[0] + a[1] * a[1], quarter, p)
        for size in (length, -length):
            real = pow((a[0] + size) * pow(2, -1, p), quarter, p)
            if real:
                root = real, a[1] * pow(2 * real, -1, p) % p
                if self.multiply(root, root) == a:
                    return root
        return None

    def _known_call(self, name: str, argument: Value) -> Value | None:
        if name in TRIGONOMETRIC:
            multiple = _multiple(self.element(argument))
            return None if multiple is None else self._trigonometric(name, multiple)
        if name in ("ln", "log") and not isinstance(argument, tuple) and argument > 0:
            logarithm = self._logarithm(argument)
            if logarithm is None or name == "ln":
                return logarithm
            return self.divide(logarithm, self.add(_ln(2), _ln(5)))
        return None

    def _extreme(self, name: str, arguments: Sequence[Value]) -> Value:
        """Return the largest or smallest of rational numbers; else an unknown, in any order."""
        rational = [argument for argument in arguments if not isinstance(argument, tuple)]
        if len(rational) == len(arguments):
            largest = max(rational)
            smallest = min(rational)
            return largest if name == "max" else smallest
        self.is_opaque = True
        elements = sorted({self.element(argument) for argument in arguments})
        return _random_element(f"{name}({elements})", -1)

    def _trigonometric(self, name: str, multiple: int) -> Value:
        sines = {"sin": sine(multiple), "cos": sine(multiple + FULL_TURN // 4), "": sine(6)}
        over, under = TRIGONOMETRIC[name]
        return self.divide(self._radicals(sines[over]), self._radicals(sines[under]))

    def _radicals(self, number: Radicals) -> Value:
        roots = (1, self.root(2, 2), self.root(2, 3), self.root(2, 6))
        value: Value = 0
        for part, root in zip(number, roots, strict=True):
            value = self.add(value, self.multiply(part, root))
        return self.divide(value, 4)

    def _logarithm(self, a: int | Fraction) -> Value | None:
        """Return a logarithm as a sum of logarithms of primes, which have no relations."""
        over = primes_of(a.numerator)
        under = primes_of(a.denominator)
        if over is None or under is None:
            return None
        value: Value = 0
        for prime in over:
            value = self.add(value, _ln(prime))
        for prime in under:
            value = self.add(value, self.negate(_ln(prime)))
        return value

    def _transcendental_power(self, base: Value, exponent: Element) -> Value:
        """Return a power that is no root: e to i times an angle that is known, or an unknown."""
        if base == self.symbol("e"):
            multiple = _multiple((exponent[1], -exponent[0] % self.p))  # exponent / i
            if multiple is not None:
                cosine = sine(multiple + FULL_TURN // 4)
                imaginary = sine(multiple)
                return self.add(
                    self._radicals(cosine), self.multiply((0, 1), self._radicals(imaginary))
                )
        return self.call("^", base, exponent)

    def _irrational_root(self, degree: int, inside: int) -> Value:
        primes = primes_of(inside) if degree == 2 else None
        if primes is None:
            return self.call(f"root {degree}", inside)
        root: Value = 1
        for prime in primes:
            root = self.multiply(root, _root_of_prime(prime))
        return root

    def _exact(self, number: int | Fraction) -> Value:
        if isinstance(number, Fraction) and number.denominator == 1:
            number = number.numerator
        if self._bits(number) <= BITS:
            return number
        self.is_huge = True
        return self.element(number)

    @staticmethod
    def _bits(number: int | Fraction) -> int:
        return max(number.numerator.bit_length(), number.denominator.bit_length())

    def _inverse(self, a: Element) -> Element:
        size = (a[0] * a[0] + a[1] * a[1]) % self.p
        if not size:
            raise Undefined("a division by zero")
        inverse = pow(size, -1, self.p)
        return a[0] * inverse % self.p, -a[1] * inverse % self.p

    def _element_power(self, base: Element, exponent: int) -> Element:
        if exponent < 0:
            base = self._inverse(base)
            exponent = -exponent
        if not base[1]:
            return pow(base[0], exponent, self.p), 0
        power: Element = (1, 0)
        p = self.p
        for bit in f"{exponent:b}":
            a, b = power
            power = (a * a - b * b) % p, 2 * a * b % p
            if bit == "1":
                a, b = power
                power = (a * base[0] - b * base[1]) % p, (a * base[1] + b * base[0]) % p
        return power


def _power(base: int | Fraction, exponent: int) -> Fraction:
    size = abs(exponent)
    over = int(base.numerator**size)
    under = int(base.denominator**size)
    return Fraction(over, under) if exponent >= 0 else Fraction(under, over)
