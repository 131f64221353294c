"""Take what can be taken out of a root of a whole number. Exact, and bounded in time."""

from __future__ import annotations

import math
from functools import lru_cache

__all__ = ["primes_of", "split_root"]

_BOUND = 1_000
_SMALL = [n for n in range(2, _BOUND) if all(n % k for k in range(2, math.isqrt(n) + 1))]


@lru_cache(maxsize=1024)
def split_root(degree: int, number: int) -> tuple[int, int]:
    """Return (a, b) with a**degree * b == number, b as small as the primes below 1,000 make it.

    >>> split_root(2, 72), split_root(3, 54), split_root(2, 1009**2)
    ((6, 2), (3, 2), (1009, 1))
    """
    outside = 1
    inside = 1
    rest = number
    for prime in _SMALL:
        if prime * prime > rest:
            break
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        outside *= prime ** (count // degree)
        inside *= prime ** (count % degree)
    whole = _whole_root(degree, rest)
    return (outside, inside * rest) if whole is None else (outside * whole, inside)


def primes_of(number: int) -> list[int] | None:
    """Return the prime factors of a number, None where they are not found quickly.

    >>> primes_of(30), primes_of(1009 * 1013)
    ([2, 3, 5], None)
    """
    primes = []
    for prime in _SMALL:
        while number % prime == 0:
            number //= prime
            primes.append(prime)
        if prime * prime > number:
            break
    if number >= _BOUND * _BOUND:
        return None
    return [*primes, number] if number > 1 else primes


def _whole_root(degree: int, number: int) -> int | None:
    if degree == 2:
        root = math.isqrt(number)
    elif degree >= number.bit_length():
        root = 1
    else:
        low = 0
        high = 1 << (number.bit_length() // degree + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**degree <= number else (low, middle - 1)
        root = low
    return root if root**degree == number else None
