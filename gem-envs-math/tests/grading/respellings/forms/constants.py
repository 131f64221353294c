"""Numbers that are not rational: roots, logarithms, complex ones, multiples of constants."""

from __future__ import annotations

from random import Random

from ..problem import Problem, form, problem
from .numbers import proper

PRIMES = (2, 3, 5, 7, 11, 13)


@form()
def the_sine_of_degrees(rng: Random) -> Problem:
    n = rng.choice((10, 20, 25, 40, 50, 70))
    return problem(
        r"\sin <n>^\circ",
        {
            "degree": r"\sin <n>\degree",
            "braces": r"\sin(<n>^{\circ})",
            "Unicode": r"\sin <n>°",
            "the complement's cosine": r"\cos <c>^\circ",
            "the supplement": r"\sin <s>^\circ",
        },
        {
            "cosine": r"\cos <n>^\circ",
            "another angle": r"\sin <m>\degree",
            "radians": r"\sin <n>",
            "another sign": r"-\sin <n>^\circ",
        },
        n=n, m=n + 5, c=90 - n, s=180 - n,
    )  # fmt: skip


@form(7)
def a_sum_with_a_root(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 12), 2)
    c = rng.choice(PRIMES)
    return problem(
        r"<a>+<b>\sqrt{<c>}",
        {
            "reordered": r"<b>\sqrt{<c>}+<a>",
            "the factor behind": r"<a>+\sqrt{<c>}\cdot<b>",
            "under the root": r"<a>+\sqrt{<bbc>}",
            "a half of the double": r"\frac{<a2>+<b2>\sqrt{<c>}}{2}",
            "a power": "<a>+<b>*<c>^{1/2}",
            "sqrt by name": "<a>+<b>sqrt(<c>)",
            "the other's quotient": r"\frac{<norm>}{<a>-<b>\sqrt{<c>}}",
            "Unicode": "<a> + <b>√<c>",
        },
        {
            "the conjugate": r"<a>-<b>\sqrt{<c>}",
            "exchanged": r"<b>+<a>\sqrt{<c>}",
            "added up": r"<sum>\sqrt{<c>}",
            "another radicand": r"<a>+<b>\sqrt{<d>}",
            "rounded": "<rounded>",
            "the root dropped": "<a>+<b> \\cdot <c>",
            "a cube root": r"<a>+<b>\sqrt[3]{<c>}",
        },
        a=a, b=b, c=c, d=c + 1, a2=2 * a, b2=2 * b, bbc=b * b * c, sum=a + b,
        norm=a * a - b * b * c, rounded=f"{a + b * c**0.5:.10f}",
    )  # fmt: skip


@form()
def a_quotient_with_a_root(rng: Random) -> Problem:
    b = rng.choice((2, 3, 5, 7))
    a, c = rng.sample((11, 13, 17, 19, 23), 2)
    return problem(
        r"\frac{<a>\sqrt{<b>}}{<c>}",
        {
            "the root behind": r"\frac{<a>}{<c>}\sqrt{<b>}",
            "inline": r"<a>\sqrt{<b>}/<c>",
            "the root below": r"\frac{<ab>}{<c>\sqrt{<b>}}",
            "TeX's short root": r"\frac{<a>\sqrt <b>}{<c>}",
            "one root": r"\sqrt{\frac{<aab>}{<cc>}}",
        },
        {
            "half": r"\frac{<a>\sqrt{<b>}}{2 \cdot <c>}",
            "upside down": r"\frac{<c>}{<a>\sqrt{<b>}}",
            "another sign": r"-\frac{<a>\sqrt{<b>}}{<c>}",
            "all under the root": r"\sqrt{\frac{<a> \cdot <b>}{<c>}}",
            "the root dropped": r"\frac{<ab>}{<c>}",
        },
        a=a, b=b, c=c, ab=a * b, aab=a * a * b, cc=c * c,
    )  # fmt: skip


@form()
def a_sum_of_roots(rng: Random) -> Problem:
    m, n = sorted(rng.sample(PRIMES, 2))
    return problem(
        r"\sqrt{<m>}+\sqrt{<n>}",
        {
            "nested": r"\sqrt{<sum>+2\sqrt{<mn>}}",
            "reordered": r"\sqrt{<n>}+\sqrt{<m>}",
            "a quotient": r"\frac{<difference>}{\sqrt{<n>}-\sqrt{<m>}}",
        },
        {
            "the root of the sum": r"\sqrt{<sum>}",
            "the difference": r"\sqrt{<n>}-\sqrt{<m>}",
            "nested, another sign": r"\sqrt{<sum>-2\sqrt{<mn>}}",
            "twice": r"2\sqrt{<m>}+2\sqrt{<n>}",
        },
        m=m, n=n, sum=m + n, mn=m * n, difference=n - m,
    )  # fmt: skip


@form()
def a_complex_number(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 15), 2)
    return problem(
        "<a>+<b>i",
        {
            "reordered": "<b>i+<a>",
            "upright": r"<a>+<b>\mathrm{i}",
            "the unit before": "<a>+i<b>",
            "the unit factored out": "i(<b>-<a>i)",
            "a quotient": r"\frac{<n>}{<a>-<b>i}",
            "named": "z=<a>+<b>i",
        },
        {
            "the conjugate": "<a>-<b>i",
            "exchanged": "<b>+<a>i",
            "the unit dropped": "<a>+<b>",
            "another sign": "-<a>-<b>i",
            "a pair exchanged": "z=<b>+<a>i",
        },
        a=a, b=b, n=a * a + b * b,
    )  # fmt: skip


@form()
def a_complex_number_in_polar_form(rng: Random) -> Problem:
    r = rng.randrange(2, 9)
    k = rng.choice((5, 7, 8, 9, 10))
    return problem(
        r"<r>e^{i\pi/<k>}",
        {
            "a fraction above": r"<r>e^{\frac{i\pi}{<k>}}",
            "trigonometric": r"<r>\left(\cos\frac{\pi}{<k>}+i\sin\frac{\pi}{<k>}\right)",
            "exp": r"<r>\exp\left(\frac{\pi i}{<k>}\right)",
        },
        {
            "the conjugate": r"<r>e^{-i\pi/<k>}",
            "another modulus": r"<s>e^{i\pi/<k>}",
            "the unit dropped": r"<r>e^{\pi/<k>}",
            "without the unit": r"<r>\left(\cos\frac{\pi}{<k>}+\sin\frac{\pi}{<k>}\right)",
            "twice the angle": r"<r>e^{2i\pi/<k>}",
        },
        r=r, s=r + 1, k=k,
    )  # fmt: skip


@form()
def a_decimal_logarithm(rng: Random) -> Problem:
    a = rng.choice((2, 3, 5, 7, 11))
    b = rng.choice((13, 17, 19))
    return problem(
        r"\lg <a>",
        {
            "log": r"\log <a>",
            "the base written": r"\log_{10} <a>",
            "by the natural one": r"\frac{\ln <a>}{\ln 10}",
            "half of the square's": r"\frac{\lg <aa>}{2}",
            "brackets": r"\lg(<a>)",
        },
        {
            "the natural one": r"\ln <a>",
            "of another number": r"\lg <b>",
            "the binary one": r"\log_2 <b>",
            "twice": r"2\lg <a>",
            "another sign": r"-\lg <a>",
        },
        a=a, b=b, aa=a * a,
    )  # fmt: skip


@form()
def a_logarithm_with_a_base(rng: Random) -> Problem:
    a, b = rng.sample((2, 3, 5, 7), 2)
    return problem(
        r"\log_{<a>} <b>",
        {
            "without braces": r"\log_<a> <b>",
            "natural": r"\frac{\ln <b>}{\ln <a>}",
            "decimal": r"\frac{\lg <b>}{\lg <a>}",
            "the inverse of the other": r"\frac{1}{\log_{<b>} <a>}",
        },
        {
            "exchanged": r"\log_{<b>} <a>",
            "the quotient's": r"\ln\frac{<b>}{<a>}",
            "another base": r"\log_{<c>} <b>",
            "decimal, upside down": r"\frac{\lg <a>}{\lg <b>}",
        },
        a=a, b=b, c=a + 9,
    )  # fmt: skip


@form(6)
def a_multiple_of_pi(rng: Random) -> Problem:
    a, b = proper(rng, 13)
    return problem(
        r"\frac{<a>\pi}{<b>}",
        {
            "behind": r"\frac{<a>}{<b>}\pi",
            "inline": r"<a>\pi/<b>",
            "Unicode": "<a>π/<b>",
            "by name": "<a>pi/<b>",
            "doubled": r"\frac{<a2>\pi}{<b2>}",
            "a factor": r"<a> \cdot \frac{\pi}{<b>}",
        },
        {
            "without it": r"\frac{<a>}{<b>}",
            "below": r"\frac{<a>}{<b>\pi}",
            "rounded": "<rounded>",
            "3.14": r"\frac{<a> \cdot 3.14}{<b>}",
            "squared": r"\frac{<a>\pi^2}{<b>}",
            "upside down": r"\frac{<b>\pi}{<a>}",
        },
        a=a, b=b, a2=2 * a, b2=2 * b, rounded=f"{a * 3.141592653589793 / b:.6f}",
    )  # fmt: skip


@form()
def an_expression_in_e(rng: Random) -> Problem:
    a = rng.randrange(2, 7)
    return problem(
        r"\frac{e^{2}-<aa>}{<d>}",
        {
            "a factor": r"\frac{1}{<d>}(e^2-<aa>)",
            "parted": r"\frac{e^2}{<d>}-\frac{<aa>}{<d>}",
            "factored": r"\frac{(e-<a>)(e+<a>)}{<d>}",
            "upright": r"\frac{\mathrm{e}^2-<aa>}{<d>}",
            "both signs": r"-\frac{<aa>-e^2}{<d>}",
        },
        {
            "a sum": r"\frac{e^2+<aa>}{<d>}",
            "the constant undivided": r"\frac{e^2}{<d>}-<aa>",
            "another power": r"\frac{e^3-<aa>}{<d>}",
            "a square": r"\frac{(e-<a>)^2}{<d>}",
        },
        a=a, aa=a * a, d=a * a + 1,
    )  # fmt: skip
