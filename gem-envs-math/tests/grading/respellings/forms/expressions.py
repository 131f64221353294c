"""Expressions in symbols: polynomials, quotients, functions, sequences, sums."""

from __future__ import annotations

from random import Random

from ..problem import Problem, form, problem


@form(6)
def a_polynomial(rng: Random) -> Problem:
    a, b, c = rng.sample(range(2, 20), 3)
    return problem(
        "<a>x^2+<b>x-<c>",
        {
            "backwards": "-<c>+<b>x+<a>x^2",
            "braces": "<a>x^{2}+<b>x-<c>",
            "Horner's": "x(<a>x+<b>)-<c>",
            "as in programs": "<a>*x**2+<b>*x-<c>",
            "a product": "<a>x \\cdot x+<b>x-<c>",
            "half of the double": r"\frac{<a2>x^2+<b2>x-<c2>}{2}",
            "named": "P(x)=<a>x^2+<b>x-<c>",
        },
        {
            "another sign": "<a>x^2-<b>x-<c>",
            "the last sign": "<a>x^2+<b>x+<c>",
            "two coefficients exchanged": "<b>x^2+<a>x-<c>",
            "another power": "<a>x^3+<b>x-<c>",
            "another symbol": "<a>t^2+<b>t-<c>",
            "a term dropped": "<a>x^2+<b>x",
            "doubled": "<a2>x^2+<b2>x-<c2>",
            "named, another sign": "P(x)=<a>x^2-<b>x-<c>",
        },
        a=a, b=b, c=c, a2=2 * a, b2=2 * b, c2=2 * c,
    )  # fmt: skip


@form(6)
def a_product_of_factors(rng: Random) -> Problem:
    a, b, c = rng.sample(range(2, 12), 3)
    return problem(
        "<a>(x-<b>)(x+<c>)",
        {
            "exchanged": "<a>(x+<c>)(x-<b>)",
            "expanded": "<a>x^2+<a>(<c>-<b>)x-<abc>",
            "both signs": "<a>(<b>-x)(-x-<c>)",
            "one factor multiplied": "(<a>x-<ab>)(x+<c>)",
            "dots": r"<a> \cdot (x-<b>) \cdot (x+<c>)",
        },
        {
            "signs exchanged": "<a>(x+<b>)(x-<c>)",
            "the factor dropped": "(x-<b>)(x+<c>)",
            "both multiplied": "(<a>x-<ab>)(<a>x+<ac>)",
            "another constant": "<a>(x-<b1>)(x+<c>)",
            "a square": "<a>(x-<b>)^2",
        },
        a=a, b=b, c=c, ab=a * b, ac=a * c, abc=a * b * c, b1=b + 1,
    )  # fmt: skip


@form()
def a_polynomial_in_two_symbols(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 12), 2)
    return problem(
        "<a>x^2y-<b>xy^2",
        {
            "factored": "xy(<a>x-<b>y)",
            "backwards": "-<b>y^2x+<a>yx^2",
            "dots": r"<a> \cdot x^2 \cdot y-<b> \cdot x \cdot y^2",
            "both signs": "-xy(<b>y-<a>x)",
        },
        {
            "symbols exchanged": "<a>y^2x-<b>yx^2",
            "a sum": "<a>x^2y+<b>xy^2",
            "other factors": "xy(<a>y-<b>x)",
            "powers dropped": "<a>xy-<b>xy",
        },
        a=a, b=b,
    )  # fmt: skip


@form(6)
def a_rational_function(rng: Random) -> Problem:
    a, b, c = rng.sample(range(2, 15), 3)
    return problem(
        r"\frac{<a>x+<b>}{x-<c>}",
        {
            "signs of both": r"\frac{-<a>x-<b>}{<c>-x}",
            "divided": r"<a>+\frac{<rest>}{x-<c>}",
            "inline": "(<a>x+<b>)/(x-<c>)",
            "display style": r"\dfrac{<b>+<a>x}{x-<c>}",
            "named": r"f(x)=\frac{<a>x+<b>}{x-<c>}",
            "named y": r"y=\frac{<a>x+<b>}{x-<c>}",
            "by the conjugate": r"\frac{(<a>x+<b>)(x+<c>)}{x^2-<cc>}",
        },
        {
            "a sign below": r"\frac{<a>x+<b>}{x+<c>}",
            "a sign below, turned": r"\frac{<a>x+<b>}{<c>-x}",
            "upside down": r"\frac{x-<c>}{<a>x+<b>}",
            "brackets dropped": "<a>x+<b>/x-<c>",
            "another constant": r"\frac{<a>x+<b1>}{x-<c>}",
            "named, a sign": r"f(x)=\frac{<a>x-<b>}{x-<c>}",
        },
        a=a, b=b, c=c, rest=b + a * c, cc=c * c, b1=b + 1,
    )  # fmt: skip


@form()
def an_exponential(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        "<a>e^{-<b>x}",
        {
            "a quotient": r"\frac{<a>}{e^{<b>x}}",
            "exp": r"<a>\exp(-<b>x)",
            "a power of the inverse": r"<a>\left(\frac{1}{e}\right)^{<b>x}",
            "named": "f(x)=<a>e^{-<b>x}",
            "y of x": "y(x)=<a>e^{-<b>x}",
        },
        {
            "another sign above": "<a>e^{<b>x}",
            "coefficients exchanged": "<b>e^{-<a>x}",
            "another symbol": "<a>e^{-<b>t}",
            "squared": "<a>e^{-<b>x^2}",
            "named, another sign": "y(x)=-<a>e^{-<b>x}",
        },
        a=a, b=b,
    )  # fmt: skip


@form()
def a_trigonometric_expression(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        r"<a>\sin^2 x+<b>\cos x",
        {
            "brackets": r"<a>(\sin x)^2+<b>\cos(x)",
            "reordered": r"<b>\cos x+<a>\sin^2 x",
            "by the cosine": r"<a>-<a>\cos^2 x+<b>\cos x",
            "by the double angle": r"\frac{<a>(1-\cos 2x)}{2}+<b>\cos x",
            "braces": r"<a>\sin^{2}{x}+<b>\cos{x}",
        },
        {
            "of the square": r"<a>\sin(x^2)+<b>\cos x",
            "exchanged": r"<a>\cos^2 x+<b>\sin x",
            "another sign": r"<a>\sin^2 x-<b>\cos x",
            "the double argument": r"<a>\sin^2 2x+<b>\cos x",
            "another sign within": r"<a>+<a>\cos^2 x+<b>\cos x",
        },
        a=a, b=b,
    )  # fmt: skip


@form()
def an_antiderivative(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        r"\frac{x^{<n>}}{<n>}-<b>\cos x+C",
        {
            "a factor": r"\frac{1}{<n>}x^{<n>}-<b>\cos x+C",
            "reordered": r"-<b>\cos x+\frac{x^{<n>}}{<n>}+C",
            "the constant first": r"C+\frac{x^{<n>}}{<n>}-<b>\cos x",
            "brackets": r"\frac{x^{<n>}}{<n>}-<b>\cos(x)+C",
        },
        {
            "another sign": r"\frac{x^{<n>}}{<n>}+<b>\cos x+C",
            "a sine": r"\frac{x^{<n>}}{<n>}-<b>\sin x+C",
            "undivided": r"x^{<n>}-<b>\cos x+C",
            "another power": r"\frac{x^{<m>}}{<n>}-<b>\cos x+C",
        },
        n=a + 1, m=a, b=b,
    )  # fmt: skip


@form()
def a_logarithm_in_an_antiderivative(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        r"<a>\ln|x+<b>|+C",
        {
            "left and right": r"<a>\ln\left|x+<b>\right|+C",
            "vert": r"<a>\ln\lvert x+<b>\rvert+C",
            "reordered": r"C+<a>\ln|<b>+x|",
        },
        {
            "another coefficient": r"<a1>\ln|x+<b>|+C",
            "another constant": r"<a>\ln|x-<b>|+C",
            "the logarithm dropped": r"<a>|x+<b>|+C",
        },
        a=a, b=b, a1=a + 1,
    )  # fmt: skip


@form()
def a_sequence(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        "a_n=<a> \\cdot <b>^{n-1}+1",
        {
            "braces": "a_{n}=<a> \\cdot <b>^{n-1}+1",
            "the name left out": "<a> \\cdot <b>^{n-1}+1",
            "reordered": "a_n=1+<a> \\cdot <b>^{n-1}",
            "a quotient": r"a_n=\frac{<a> \cdot <b>^n}{<b>}+1",
            "times": "a_n=<a> \\times <b>^{n-1}+1",
        },
        {
            "the index shifted": "a_n=<a> \\cdot <b>^n+1",
            "exchanged": "a_n=<b> \\cdot <a>^{n-1}+1",
            "another sign": "a_n=<a> \\cdot <b>^{n-1}-1",
            "another name": "b_n=<a> \\cdot <b>^{n-1}+1",
            "the power lost": "a_n=<a> \\cdot <b>(n-1)+1",
        },
        a=a, b=b,
    )  # fmt: skip


@form()
def an_expression_with_subscripts(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        "<a>x_1+<b>x_2",
        {
            "braces": "<a>x_{1}+<b>x_{2}",
            "reordered": "<b>x_2+<a>x_1",
            "dots": r"<a> \cdot x_1+<b> \cdot x_2",
        },
        {
            "subscripts exchanged": "<a>x_2+<b>x_1",
            "subscripts dropped": "<a>x+<b>x",
            "subscripts as factors": "<a>x+<b2>x",
            "another subscript": "<a>x_1+<b>x_3",
            "another sign": "<a>x_1-<b>x_2",
            "powers": "<a>x^1+<b>x^2",
        },
        a=a, b=b, b2=2 * b,
    )  # fmt: skip


@form()
def a_physical_formula(rng: Random) -> Problem:
    a = rng.randrange(2, 9)
    return problem(
        r"\frac{<a>m_1m_2g}{m_1+m_2}",
        {
            "braces": r"\frac{<a>m_{1}m_{2}g}{m_{1}+m_{2}}",
            "reordered": r"\frac{<a>g m_2 m_1}{m_2+m_1}",
            "named": r"T=\frac{<a>m_1m_2g}{m_1+m_2}",
            "a factor": r"<a>g\frac{m_1m_2}{m_1+m_2}",
            "reciprocals": r"\frac{<a>g}{\frac{1}{m_1}+\frac{1}{m_2}}",
        },
        {
            "a difference below": r"\frac{<a>m_1m_2g}{m_1-m_2}",
            "one mass squared": r"\frac{<a>m_1^2g}{m_1+m_2}",
            "another coefficient": r"\frac{<a1>m_1m_2g}{m_1+m_2}",
            "a mass dropped": r"\frac{<a>m_1g}{m_1+m_2}",
            "one mass twice": r"\frac{<a>m_1m_1g}{m_1+m_2}",
        },
        a=a, a1=a + 1,
    )  # fmt: skip


@form(4)
def a_formula_with_greek_letters(rng: Random) -> Problem:
    a = rng.randrange(2, 9)
    return problem(
        r"\frac{<a>\mu_0 I}{2\pi r}",
        {
            "braces": r"\frac{<a>\mu_{0}I}{2\pi r}",
            "a factor": r"\frac{<a>I}{2r}\cdot\frac{\mu_0}{\pi}",
            "named": r"B=\frac{<a>\mu_0 I}{2\pi r}",
            "reordered": r"\frac{<a>I\mu_0}{2r\pi}",
        },
        {
            "the distance squared": r"\frac{<a>\mu_0 I}{2\pi r^2}",
            "another constant": r"\frac{<a>\epsilon_0 I}{2\pi r}",
            "another denominator": r"\frac{<a>\mu_0 I}{4\pi r}",
            "the subscript changed": r"\frac{<a>\mu_1 I}{2\pi r}",
        },
        a=a,
    )  # fmt: skip


@form()
def a_power_of_a_symbol(rng: Random) -> Problem:
    a = rng.randrange(2, 9)
    return problem(
        "2^{n+<a>}-1",
        {
            "a factor": r"<two> \cdot 2^n-1",
            "a product": r"2^n \cdot 2^{<a>}-1",
            "reordered": "-1+2^{<a>+n}",
            "half": r"\frac{2^{n+<b>}-2}{2}",
        },
        {
            "braces dropped": "2^n+<a>-1",
            "the one above": "2^{n+<less>}",
            "another shift": "2^{n+<b>}-1",
            "a product above": "2^{<a>n}-1",
            "another sign": "2^{n+<a>}+1",
        },
        a=a, b=a + 1, less=a - 1, two=2**a,
    )  # fmt: skip


@form(4)
def a_sum_that_is_asked_for(rng: Random) -> Problem:
    a = rng.randrange(2, 9)
    return problem(
        r"\sum_{n=0}^{\infty} \frac{x^n}{<a>^n n!}",
        {
            "braces": r"\sum_{n=0}^\infty \frac{x^{n}}{<a>^{n} n!}",
            "another index": r"\sum_{k=0}^{\infty} \frac{x^k}{<a>^k k!}",
            "limits": r"\sum\limits_{n=0}^{\infty} \frac{x^n}{<a>^n n!}",
            "one power": r"\sum_{n=0}^{\infty} \frac{1}{n!}\left(\frac{x}{<a>}\right)^n",
            "display style": r"\displaystyle\sum_{n=0}^{\infty} \dfrac{x^n}{<a>^n n!}",
        },
        {
            "another start": r"\sum_{n=1}^{\infty} \frac{x^n}{<a>^n n!}",
            "alternating": r"\sum_{n=0}^{\infty} \frac{(-1)^n x^n}{<a>^n n!}",
            "the factorial dropped": r"\sum_{n=0}^{\infty} \frac{x^n}{<a>^n n}",
            "another base": r"\sum_{n=0}^{\infty} \frac{x^n}{<b>^n n!}",
            "double powers": r"\sum_{n=0}^{\infty} \frac{x^{2n}}{<a>^n n!}",
        },
        a=a, b=a + 1,
    )  # fmt: skip


@form(4)
def an_integral_that_is_asked_for(rng: Random) -> Problem:
    a = rng.randrange(2, 9)
    return problem(
        r"\int_{0}^{<a>} e^{-x^2}\,dx",
        {
            "without braces": r"\int_0^<a> e^{-x^2} dx",
            "upright": r"\int_{0}^{<a>} e^{-x^2}\,\mathrm{d}x",
            "another variable": r"\int_{0}^{<a>} e^{-t^2}\,dt",
        },
        {
            "another bound": r"\int_{0}^{<b>} e^{-x^2}\,dx",
            "another sign above": r"\int_{0}^{<a>} e^{x^2}\,dx",
            "not squared": r"\int_{0}^{<a>} e^{-x}\,dx",
            "doubled": r"2\int_{0}^{<a>} e^{-x^2}\,dx",
            "turned": r"\int_{<a>}^{0} e^{-x^2}\,dx",
        },
        a=a, b=a + 1,
    )  # fmt: skip


@form(4)
def a_sum_with_dots(rng: Random) -> Problem:
    a = rng.randrange(3, 9)
    return problem(
        r"1+<a>x+<aa>x^2+\cdots",
        {
            "low dots": r"1+<a>x+<aa>x^2+\ldots",
            "braces": r"1+<a>x+<aa>x^{2}+\cdots",
            "points": "1+<a>x+<aa>x^2+...",
        },
        {
            "another sign": r"1-<a>x+<aa>x^2+\cdots",
            "the square's coefficient": r"1+<a>x+<a>x^2+\cdots",
        },
        a=a, aa=a * a,
    )  # fmt: skip


@form(3)
def an_order_of_growth(rng: Random) -> Problem:
    a = rng.randrange(2, 6)
    return problem(
        r"O(n^{<a>}\log n)",
        {
            "spaces": r"O( n^<a> \log n )",
            "script": r"\mathcal{O}(n^{<a>}\log n)",
            "brackets": r"O\left(n^{<a>}\log(n)\right)",
        },
        {
            "without the logarithm": r"O(n^{<a>})",
            "another power": r"O(n^{<b>}\log n)",
            "the logarithm's power": r"O(n\log^{<a>} n)",
            "exponential": r"O(<a>^n\log n)",
        },
        a=a, b=a + 1,
    )  # fmt: skip


@form(4)
def a_maximum(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        r"\max(<a>x,<b>y)",
        {
            "exchanged": r"\max(<b>y,<a>x)",
            "braces": r"\max\{<a>x,<b>y\}",
            "left and right": r"\max\left(<a>x, <b>y\right)",
        },
        {
            "the minimum": r"\min(<a>x,<b>y)",
            "coefficients exchanged": r"\max(<b>x,<a>y)",
            "one dropped": r"<a>x",
        },
        a=a, b=b,
    )  # fmt: skip


@form(4)
def a_floor(rng: Random) -> Problem:
    a = rng.randrange(3, 9)
    return problem(
        r"\left\lfloor \frac{n}{<a>} \right\rfloor+1",
        {
            "plain brackets": r"\lfloor n/<a> \rfloor+1",
            "reordered": r"1+\left\lfloor\frac{n}{<a>}\right\rfloor",
            "within": r"\left\lfloor \frac{n}{<a>}+1 \right\rfloor",
        },
        {
            "the ceiling": r"\left\lceil \frac{n}{<a>} \right\rceil+1",
            "the brackets dropped": r"\frac{n}{<a>}+1",
            "another number": r"\left\lfloor \frac{n}{<b>} \right\rfloor+1",
            "another sign": r"\left\lfloor \frac{n}{<a>} \right\rfloor-1",
        },
        a=a, b=a + 1,
    )  # fmt: skip


@form(4)
def an_expression_in_lengths(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        r"\frac{\sqrt{a^2+b^2-<a>ab}}{<b>}",
        {
            "reordered": r"\frac{\sqrt{b^2+a^2-<a>ba}}{<b>}",
            "a factor": r"\frac{1}{<b>}\sqrt{a^{2}+b^{2}-<a>ab}",
            "under the root": r"\sqrt{\frac{a^2+b^2-<a>ab}{<bb>}}",
        },
        {
            "a sum": r"\frac{\sqrt{a^2+b^2+<a>ab}}{<b>}",
            "other letters": r"\frac{\sqrt{A^2+B^2-<a>AB}}{<b>}",
            "the square's divisor": r"\sqrt{\frac{a^2+b^2-<a>ab}{<b>}}",
            "without the root": r"\frac{a^2+b^2-<a>ab}{<b>}",
        },
        a=a, b=b, bb=b * b,
    )  # fmt: skip
