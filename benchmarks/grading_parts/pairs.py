"""Answers and golds that graders are measured on: distinct, half of them right."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import NamedTuple

__all__ = ["PARTS", "Pair", "mixed", "plain"]

PARTS = {"plain": 0.60, "ratios": 0.25, "algebra": 0.15}
"""What a mix is made of."""


class Pair(NamedTuple):
    """An answer, what it is compared with, and whether it is right."""

    answer: str
    gold: str
    is_right: bool


def mixed(count: int, seed: int) -> list[Pair]:
    """Return so many pairs in the proportions of PARTS, in any order. No seed repeats another's."""
    rng = random.Random(seed)
    pairs: dict[tuple[str, str], Pair] = {}
    for make, share in zip((_plain, _ratio, _algebra), PARTS.values(), strict=True):
        until = len(pairs) + round(count * share)
        while len(pairs) < until:
            pair = make(rng, is_right=len(pairs) % 2 == 0)
            pairs[pair[:2]] = pair
    return rng.sample(list(pairs.values()), len(pairs))


def plain(count: int, seed: int) -> list[Pair]:
    """Return so many pairs of whole numbers."""
    rng = random.Random(seed)
    pairs = {(pair := _plain(rng, is_right=at % 2 == 0))[:2]: pair for at in range(2 * count)}
    return list(pairs.values())[:count]


def _plain(rng: random.Random, *, is_right: bool) -> Pair:
    number = rng.randrange(-(10**9), 10**9)
    return Pair(str(number if is_right else number + rng.randrange(1, 10)), str(number), is_right)


def _ratio(rng: random.Random, *, is_right: bool) -> Pair:
    under = rng.choice((2, 4, 5, 8, 10, 16, 20, 25, 40, 50, 100))
    ratio = Fraction(rng.randrange(1, 10**6), under)
    other = ratio if is_right else ratio + Fraction(rng.randrange(1, 5), under)
    return Pair(_spelled(other, rng), _spelled(ratio, rng), is_right)


def _spelled(ratio: Fraction, rng: random.Random) -> str:
    over = ratio.numerator
    under = ratio.denominator
    return rng.choice(
        (
            rf"\frac{{{over}}}{{{under}}}",
            f"{over}/{under}",
            str(float(ratio)),
            rf"\dfrac{{{over}}}{{{under}}}",
        )
    )


def _algebra(rng: random.Random, *, is_right: bool) -> Pair:
    answer, gold, wrong = rng.choice((_expanded, _rooted, _reordered, _divided, _doubled))(rng)
    return Pair(answer if is_right else wrong, gold, is_right)


def _expanded(rng: random.Random) -> tuple[str, str, str]:
    a = rng.randrange(1, 500)
    b = rng.randrange(501, 999)
    x = rng.choice("xyznt")
    product = f"{x}^2+{a + b}{x}+{a * b}"
    return product, f"({x}+{a})({x}+{b})", f"{x}^2+{a + b}{x}+{a * b + 1}"


def _rooted(rng: random.Random) -> tuple[str, str, str]:
    a = rng.randrange(2, 400)
    b = rng.choice((2, 3, 5, 6, 7, 10, 11, 13))
    return rf"\sqrt{{{a * a * b}}}", rf"{a}\sqrt{{{b}}}", rf"\sqrt{{{a * a * b + 1}}}"


def _reordered(rng: random.Random) -> tuple[str, str, str]:
    a, b, c = (rng.randrange(2, 300) for _ in range(3))
    return rf"{c}+{b}y+{a}x^3", rf"{a}x^3+{b}y+{c}", rf"{c}+{b}y+{a}x^2"


def _divided(rng: random.Random) -> tuple[str, str, str]:
    a = rng.randrange(2, 900)
    b = rng.randrange(2, 900)
    return (
        rf"\frac{{{a}x+{b}}}{{2}}",
        rf"\frac{{{a}x}}{{2}}+\frac{{{b}}}{{2}}",
        rf"\frac{{{a}x-{b}}}{{2}}",
    )


def _doubled(rng: random.Random) -> tuple[str, str, str]:
    a = rng.randrange(2, 300)
    b = rng.randrange(2, 300)
    double = rf"\sin({2 * a}x)+{b}"
    return rf"{b}+2\sin({a}x)\cos({a}x)", double, rf"{b}+\sin({a}x)\cos({a}x)"
