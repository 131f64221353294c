"""Rational numbers: mixed, repeating, large, and in notations of their own."""

from __future__ import annotations

from fractions import Fraction
from math import comb, gcd
from random import Random

from ..problem import Problem, form, problem


def proper(rng: Random, most: int = 9) -> tuple[int, int]:
    """Return a numerator and a greater denominator without a common factor."""
    while True:
        over, under = sorted(rng.sample(range(1, most + 1), 2))
        if gcd(over, under) == 1 and over > 1:
            return over, under


@form(8)
def a_mixed_number(rng: Random) -> Problem:
    a, b = proper(rng)
    w = rng.randrange(2, 9)
    return problem(
        r"<w>\frac{<a>}{<b>}",
        {
            "TeX's short fraction": r"<w>\frac <a> <b>",
            "spaces": r"<w> \frac{<a>}{<b>}",
            "improper": r"\frac{<n>}{<b>}",
            "as a sum": r"<w>+\frac{<a>}{<b>}",
            "inline": "<w> <a>/<b>",
            "improper, inline": "<n>/<b>",
            "display style": r"<w>\dfrac{<a>}{<b>}",
        },
        {
            "the whole dropped": r"\frac{<a>}{<b>}",
            "the fraction dropped": "<w>",
            "the whole changed": r"<v>\frac{<a>}{<b>}",
            "as a difference": r"<w>-\frac{<a>}{<b>}",
            "another numerator": r"\frac{<m>}{<b>}",
            "upside down": r"\frac{<b>}{<n>}",
            "another sign": r"-<w>\frac{<a>}{<b>}",
        },
        w=w, v=w + 1, a=a, b=b, n=w * b + a, m=w * b + a + 1,
    )  # fmt: skip


@form()
def a_negative_mixed_number(rng: Random) -> Problem:
    a, b = proper(rng)
    w = rng.randrange(2, 9)
    return problem(
        r"-<w>\frac{<a>}{<b>}",
        {
            "TeX's short fraction": r"-<w>\frac<a><b>",
            "improper": r"-\frac{<n>}{<b>}",
            "the sign above": r"\frac{-<n>}{<b>}",
            "as a difference": r"-<w>-\frac{<a>}{<b>}",
        },
        {
            "another sign": r"<w>\frac{<a>}{<b>}",
            "the whole negative only": r"-<w>+\frac{<a>}{<b>}",
            "another numerator": r"-\frac{<m>}{<b>}",
        },
        w=w, a=a, b=b, n=w * b + a, m=w * b - a,
    )  # fmt: skip


@form(7)
def a_repeating_decimal(rng: Random) -> Problem:
    d = rng.randrange(1, 8)
    return problem(
        r"0.\bar{<d>}",
        {
            "overline": r"0.\overline{<d>}",
            "without braces": r"0.\bar <d>",
            "the period twice": r"0.\overline{<d><d>}",
            "the first digit written": r"0.<d>\bar{<d>}",
            "a fraction": r"\frac{<d>}{9}",
            "inline": "<d>/9",
        },
        {
            "the bar dropped": "0.<d>",
            "cut": "0.<d><d><d><d><d><d><d><d>",
            "another digit": r"0.\bar{<e>}",
            "a zero before": r"0.0\bar{<d>}",
            "ten times": r"<d>.\bar{<d>}",
            "a denominator of ten": r"\frac{<d>}{10}",
        },
        d=d, e=d + 1,
    )  # fmt: skip


@form(7)
def a_period_of_two(rng: Random) -> Problem:
    c, d = rng.sample(range(1, 10), 2)
    return problem(
        r"0.\overline{<c><d>}",
        {
            "bar": r"0.\bar{<c><d>}",
            "shifted": r"0.<c>\overline{<d><c>}",
            "the period twice": r"0.\overline{<c><d><c><d>}",
            "a fraction": r"\frac{<c><d>}{99}",
            "lowest terms": "<ratio>",
        },
        {
            "the digits exchanged": r"0.\overline{<d><c>}",
            "one digit repeats": r"0.<c>\overline{<d>}",
            "cut": "0.<c><d><c><d>",
            "a denominator of a hundred": r"\frac{<c><d>}{100}",
        },
        c=c, d=d, ratio=Fraction(10 * c + d, 99),
    )  # fmt: skip


@form()
def a_percentage(rng: Random) -> Problem:
    p = rng.choice([n for n in range(11, 98) if n % 10 and n != 50])
    return problem(
        r"<p>\%",
        {
            "pct": "<p> pct",
            "percent": "<p> percent",
            "as text": r"<p>\text{ percent}",
            "spaced": r"<p> \%",
            "unescaped": "<p>%",
            "the number": "<p>",
            "a decimal": "0.<p>",
            "a fraction": r"\frac{<p>}{100}",
        },
        {
            "another number": r"<q>\%",
            "a hundredth": r"0.<p>\%",
            "ten times": "<p>0 pct",
            "another number, pct": "<q> pct",
            "degrees": r"<p>^\circ",
        },
        p=p, q=p + 1,
    )  # fmt: skip


@form()
def degrees(rng: Random) -> Problem:
    n = rng.choice((15, 20, 36, 40, 45, 60, 72, 75, 108, 120, 135, 150))
    part = Fraction(n, 180)
    return problem(
        r"<n>^\circ",
        {
            "degree": r"<n>\degree",
            "braces": r"<n>^{\circ}",
            "in words": r"<n> \text{ degrees}",
            "Unicode": "<n>°",
            "the number": "<n>",
            "radians": r"\frac{<over>\pi}{<under>}",
        },
        {
            "another number": r"<m>^\circ",
            "another number, degree": r"<m>\degree",
            "radians by name": r"<n> \text{ rad}",
            "twice the radians": r"\frac{2 \cdot <over>\pi}{<under>}",
            "percent": r"<n>\%",
        },
        n=n, m=n + 5, over=part.numerator, under=part.denominator,
    )  # fmt: skip


@form()
def a_fraction_at_the_end_of_a_sentence(rng: Random) -> Problem:
    a, b = proper(rng)
    return problem(
        r"\frac{<a>}{<b>}",
        {
            "a full stop": r"\frac<a><b>.",
            "a full stop after braces": r"\frac{<a>}{<b>}.",
            "dollars and a full stop": r"$\frac{<a>}{<b>}$.",
            "text style": r"\tfrac<a><b>",
            "continued": r"\cfrac{<a>}{<b>}",
            "over": r"{<a> \over <b>}",
            "a solidus in braces": r"{<a>}/{<b>}",
            "doubled": r"\frac{<a2>}{<b2>}",
        },
        {
            "upside down, with a full stop": r"\frac<b><a>.",
            "another denominator": r"\frac{<a>}{<b2>}.",
            "another sign": r"-\frac<a><b>.",
            "over, upside down": r"{<b> \over <a>}",
        },
        a=a, b=b, a2=2 * a, b2=2 * b,
    )  # fmt: skip


@form()
def a_number_with_a_power_of_ten(rng: Random) -> Problem:
    c, d = rng.sample(range(1, 10), 2)
    n = rng.randrange(3, 9)
    return problem(
        r"<c>.<d> \times 10^{<n>}",
        {
            "a point": r"<c>.<d> \cdot 10^<n>",
            "asterisk": "<c>.<d>*10^<n>",
            "the point moved": r"<c><d> \times 10^{<less>}",
            "written out": "<c><d><zeros>",
            "as in programs": "<c>.<d>e<n>",
        },
        {
            "a power more": r"<c>.<d> \times 10^{<more>}",
            "a power less": r"<c>.<d> \times 10^{<less>}",
            "the power's sign": r"<c>.<d> \times 10^{-<n>}",
            "the digits exchanged": r"<d>.<c> \times 10^{<n>}",
            "a zero dropped": "<c><d><fewer>",
        },
        c=c, d=d, n=n, less=n - 1, more=n + 1, zeros="0" * (n - 1), fewer="0" * (n - 2),
    )  # fmt: skip


@form()
def a_binomial_coefficient(rng: Random) -> Problem:
    n = rng.randrange(8, 16)
    k = rng.randrange(2, 4)
    return problem(
        r"\binom{<n>}{<k>}",
        {
            "the value": "<value>",
            "symmetric": r"\binom{<n>}{<m>}",
            "display style": r"\dbinom{<n>}{<k>}",
            "choose": r"{<n> \choose <k>}",
            "factorials": r"\frac{<n>!}{<k>!<m>!}",
            "Pascal's sum": r"\binom{<less>}{<k>}+\binom{<less>}{<j>}",
        },
        {
            "one more": r"\binom{<more>}{<k>}",
            "one more below": r"\binom{<n>}{<k1>}",
            "a fraction": r"\frac{<n>}{<k>}",
            "arrangements": r"\frac{<n>!}{<m>!}",
            "the value and one": "<value1>",
        },
        n=n, k=k, m=n - k, less=n - 1, j=k - 1, more=n + 1, k1=k + 1,
        value=comb(n, k), value1=comb(n, k) + 1,
    )  # fmt: skip


@form()
def a_large_number(rng: Random) -> Problem:
    n = rng.randrange(1_100_000, 9_900_000)
    return problem(
        "<n>",
        {
            "commas": f"{n:,}",
            "commas in braces": f"{n:,}".replace(",", "{,}"),
            "thin spaces": f"{n:,}".replace(",", r"\,"),
            "commas without space": f"{n:,}".replace(",", ",\\!"),
            "a sum": "<less> + 1000",
        },
        {
            "one more": f"{n + 1:,}",
            "a digit dropped": str(n)[:-1],
            "a digit added": f"{n}0",
            "millions only": f"{n // 10**6} million",
            "a decimal point": f"{n:,}".replace(",", ".", 1).replace(",", ""),
        },
        n=n, less=n - 1000,
    )  # fmt: skip


@form()
def a_product_of_powers(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 7), 2)
    return problem(
        r"2^{<a>} \cdot 3^{<b>}",
        {
            "exchanged": r"3^{<b>} \cdot 2^{<a>}",
            "times": r"2^<a> \times 3^<b>",
            "the value": "<value>",
            "six": r"6^{<b>} \cdot 2^{<difference>}",
        },
        {
            "the powers exchanged": r"2^{<b>} \cdot 3^{<a>}",
            "a sum": r"2^{<a>} + 3^{<b>}",
            "one base": r"6^{<sum>}",
            "a power more": r"2^{<a1>} \cdot 3^{<b>}",
        },
        a=a, b=b, a1=a + 1, sum=a + b, difference=a - b, value=2**a * 3**b,
    )  # fmt: skip


@form()
def a_probability(rng: Random) -> Problem:
    a = rng.choice((1, 3, 5, 7, 9, 11, 13))
    return problem(
        r"\frac{<a>}{16}",
        {
            "a decimal": f"{a / 16}",
            "per cent": f"{a * 6.25}\\%",
            "named": r"P=\frac{<a>}{16}",
            "of an event": r"P(A)=\frac{<a>}{16}",
            "of an event in words": r"P(\text{win})=\frac{<a>}{16}",
            "a power of the half": r"<a> \cdot \left(\frac{1}{2}\right)^4",
            "the complement's": r"1-\frac{<c>}{16}",
        },
        {
            "the complement": r"\frac{<c>}{16}",
            "the complement, named": r"P(A)=\frac{<c>}{16}",
            "rounded": f"{a / 16:.2f}",
            "upside down": r"\frac{16}{<a>}",
            "a tenth of the percentage": f"{a * 0.625}\\%",
        },
        a=a, c=16 - a,
    )  # fmt: skip


@form()
def a_ratio(rng: Random) -> Problem:
    a, b, c = rng.sample((2, 3, 5, 7, 9, 11), 3)
    return problem(
        "<a>:<b>:<c>",
        {
            "spaces": "<a> : <b> : <c>",
            "doubled": "<a2>:<b2>:<c2>",
            "colons of LaTeX": r"<a>\colon<b>\colon<c>",
            "named": "a:b:c=<a>:<b>:<c>",
        },
        {
            "backwards": "<c>:<b>:<a>",
            "two exchanged": "<b>:<a>:<c>",
            "one doubled": "<a2>:<b>:<c>",
            "one dropped": "<a>:<b>",
        },
        a=a, b=b, c=c, a2=2 * a, b2=2 * b, c2=2 * c,
    )  # fmt: skip


@form()
def a_number_in_a_base(rng: Random) -> Problem:
    base = rng.randrange(5, 9)
    digits = [rng.randrange(1, base) for _ in range(4)]
    value = sum(digit * base**power for power, digit in enumerate(reversed(digits)))
    return problem(
        "<d>_{<base>}",
        {
            "without braces": "<d>_<base>",
            "the base in words": r"<d>_{\text{<base>}}",
            "decimal, with its base": "<value>_{10}",
            "brackets": "(<d>)_{<base>}",
        },
        {
            "another base": "<d>_{<other>}",
            "another number": "<e>_{<base>}",
            "the value in the base": "<value>_{<base>}",
        },
        d="".join(map(str, digits)), e="".join(map(str, [*digits[:3], (digits[3] + 1) % base])),
        base=base, other=base + 1, value=value,
    )  # fmt: skip
