"""Numbers: mixed, repeating, rooted, complex, large, and in notations of their own."""

from __future__ import annotations

from fractions import Fraction
from math import comb, gcd
from random import Random

from ..problem import Problem, form, problem

PRIMES = (2, 3, 5, 7, 11, 13)


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
    r, k = rng.randrange(2, 9), rng.choice((5, 7, 8, 9, 10))
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
