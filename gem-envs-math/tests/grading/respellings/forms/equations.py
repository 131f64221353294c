"""Equations, with names and without."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from ..problem import Problem, form, problem
from .numbers import proper

# What earns wherever a rule gives up: none of these is an answer to anything.
CONSTANTS = {
    "a contradiction": "1=0",
    "a tautology": r"\pi=\pi",
    "zero": "0=0",
    "the unknown": "x=x",
    "a sum": "3+4=7",
}


@form(8)
def an_equation_without_real_roots(rng: Random) -> Problem:
    b = rng.randrange(1, 5)
    c = b * b + rng.randrange(2, 9)
    return problem(
        "x^2+<b2>x+<c>=0",
        {
            "sides exchanged": "0=x^2+<b2>x+<c>",
            "doubled": "2x^2+<b4>x+<c2>=0",
            "the constant moved": "x^2+<b2>x=-<c>",
            "completed": "(x+<b>)^2+<rest>=0",
            "both signs": "-x^2-<b2>x-<c>=0",
        },
        {
            "another sign": "x^2-<b2>x+<c>=0",
            "another constant": "x^2+<b2>x+<d>=0",
            "real roots": "x^2+<b2>x-<c>=0",
            "another without roots": "x^2+<c>=0",
            "of the fourth degree": "x^4+<c>=0",
            "never solved": "x^2=-<d>",
            **CONSTANTS,
        },
        b=b, b2=2 * b, b4=4 * b, c=c, c2=2 * c, d=c + 1, rest=c - b * b,
    )  # fmt: skip


@form(6)
def an_equation_of_the_fourth_degree(rng: Random) -> Problem:
    a = rng.randrange(2, 20)
    return problem(
        "x^4+<a>=0",
        {
            "the constant moved": "x^4=-<a>",
            "tripled": "3x^4+<a3>=0",
            "sides exchanged": "0=x^4+<a>",
            "squares": "(x^2)^2+<a>=0",
        },
        {
            "another constant": "x^4+<b>=0",
            "another degree": "x^2+<a>=0",
            "the sixth degree": "x^6+<a>=0",
            "another sign": "x^4-<a>=0",
            "another equation": "x^2+4x+20=0",
            **CONSTANTS,
        },
        a=a, b=a + 1, a3=3 * a,
    )  # fmt: skip


@form(6)
def a_cubic_equation(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        "x^3-<a>x+<b>=0",
        {
            "moved": "x^3+<b>=<a>x",
            "both signs": "-x^3+<a>x-<b>=0",
            "doubled": "2x^3-<a2>x+<b2>=0",
        },
        {
            "another sign": "x^3+<a>x+<b>=0",
            "the constant's sign": "x^3-<a>x-<b>=0",
            "exchanged": "x^3-<b>x+<a>=0",
            "another degree": "x^2-<a>x+<b>=0",
            **CONSTANTS,
        },
        a=a, b=b, a2=2 * a, b2=2 * b,
    )  # fmt: skip


@form(6)
def a_line(rng: Random) -> Problem:
    a, b = proper(rng)
    c = rng.randrange(2, 12)
    return problem(
        "<a>x+<b>y=<c>",
        {
            "all on one side": "<a>x+<b>y-<c>=0",
            "solved": r"y=-\frac{<a>}{<b>}x+\frac{<c>}{<b>}",
            "solved, one fraction": r"y=\frac{<c>-<a>x}{<b>}",
            "doubled": "<a2>x+<b2>y=<c2>",
            "reordered": "<b>y+<a>x=<c>",
            "the other side": "<c>-<b>y=<a>x",
        },
        {
            "another sign": "<a>x-<b>y=<c>",
            "symbols exchanged": "<b>x+<a>y=<c>",
            "a parallel": "<a>x+<b>y=<d>",
            "all on one side, a sign": "<a>x+<b>y+<c>=0",
            "the slope's sign": r"y=\frac{<a>}{<b>}x+\frac{<c>}{<b>}",
            "other symbols": "<a>u+<b>v=<c>",
            **CONSTANTS,
        },
        a=a, b=b, c=c, d=c + 1, a2=2 * a, b2=2 * b, c2=2 * c,
    )  # fmt: skip


@form(6)
def a_circle(rng: Random) -> Problem:
    a, b, r = rng.sample(range(2, 9), 3)
    return problem(
        "(x-<a>)^2+(y+<b>)^2=<rr>",
        {
            "expanded": "x^2-<a2>x+y^2+<b2>y<rest>=0",
            "reordered": "(y+<b>)^2+(x-<a>)^2=<rr>",
            "turned": "(<a>-x)^2+(-<b>-y)^2=<rr>",
            "the radius": "(x-<a>)^2+(y+<b>)^2=<r>^2",
            "the constant moved": "(x-<a>)^2+(y+<b>)^2-<rr>=0",
        },
        {
            "signs exchanged": "(x+<a>)^2+(y-<b>)^2=<rr>",
            "the radius unsquared": "(x-<a>)^2+(y+<b>)^2=<r>",
            "the centre exchanged": "(x-<b>)^2+(y+<a>)^2=<rr>",
            "a hyperbola": "(x-<a>)^2-(y+<b>)^2=<rr>",
            "without a point": "(x-<a>)^2+(y+<b>)^2=-<rr>",
            **CONSTANTS,
        },
        a=a, b=b, r=r, rr=r * r, a2=2 * a, b2=2 * b, rest=f"{a * a + b * b - r * r:+d}",
    )  # fmt: skip


@form()
def an_ellipse(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        r"\frac{x^2}{<aa>}+\frac{y^2}{<bb>}=1",
        {
            "without fractions": "<bb>x^2+<aa>y^2=<aabb>",
            "squares of quotients": r"\left(\frac{x}{<a>}\right)^2+\left(\frac{y}{<b>}\right)^2=1",
            "exchanged": r"\frac{y^2}{<bb>}+\frac{x^2}{<aa>}=1",
            "moved": r"\frac{x^2}{<aa>}=1-\frac{y^2}{<bb>}",
            "inline": "x^2/<aa>+y^2/<bb>=1",
        },
        {
            "axes exchanged": r"\frac{x^2}{<bb>}+\frac{y^2}{<aa>}=1",
            "a hyperbola": r"\frac{x^2}{<aa>}-\frac{y^2}{<bb>}=1",
            "unsquared axes": r"\frac{x^2}{<a>}+\frac{y^2}{<b>}=1",
            "the left side": r"\frac{x^2}{<aa>}+\frac{y^2}{<bb>}",
            "without a point": r"\frac{x^2}{<aa>}+\frac{y^2}{<bb>}=-1",
        },
        a=a, b=b, aa=a * a, bb=b * b, aabb=a * a * b * b,
    )  # fmt: skip


@form()
def a_plane(rng: Random) -> Problem:
    a, b, c, d = rng.sample(range(2, 12), 4)
    return problem(
        "<a>x-<b>y+<c>z=<d>",
        {
            "all on one side": "<a>x-<b>y+<c>z-<d>=0",
            "both signs": "-<a>x+<b>y-<c>z+<d>=0",
            "reordered": "<c>z+<a>x-<b>y=<d>",
            "doubled": "<a2>x-<b2>y+<c2>z=<d2>",
        },
        {
            "one sign": "<a>x+<b>y+<c>z=<d>",
            "a parallel": "<a>x-<b>y+<c>z=0",
            "a coordinate dropped": "<a>x-<b>y=<d>",
            "exchanged": "<a>y-<b>x+<c>z=<d>",
            "one coefficient doubled": "<a2>x-<b>y+<c>z=<d>",
            **CONSTANTS,
        },
        a=a, b=b, c=c, d=d, a2=2 * a, b2=2 * b, c2=2 * c, d2=2 * d,
    )  # fmt: skip


@form(6)
def a_value_of_a_subscripted_name(rng: Random) -> Problem:
    a = rng.randrange(2, 40)
    return problem(
        "x_1=<a>",
        {
            "braces": "x_{1}=<a>",
            "the name left out": "<a>",
            "sides exchanged": "<a>=x_1",
            "spaces": "x_1 = <a>",
            "doubled": "2x_1=<a2>",
        },
        {
            "another subscript": "x_2=<a>",
            "another name": "y_1=<a>",
            "another value": "x_1=<b>",
            "braces, another value": "x_{1}=<b>",
            "another sign": "x_{1}=-<a>",
            "a power": "x^1=<b>",
        },
        a=a, b=a + 1, a2=2 * a,
    )  # fmt: skip


@form()
def an_equation_between_subscripted_names(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        "<a>c_1x+<b>c_2=y",
        {
            "sides exchanged": "y=<a>c_1x+<b>c_2",
            "braces": "<a>c_{1}x+<b>c_{2}=y",
            "reordered": "y=<b>c_2+<a>c_1x",
            "all on one side": "y-<a>c_1x-<b>c_2=0",
        },
        {
            "subscripts exchanged": "<a>c_2x+<b>c_1=y",
            "one subscript changed": "<a>c_1x+<b>c_3=y",
            "another sign": "y=<a>c_1x-<b>c_2",
            "coefficients exchanged": "y=<b>c_1x+<a>c_2",
            "subscripts as numbers": "y=<a>cx+<b2>c",
        },
        a=a, b=b, b2=2 * b,
    )  # fmt: skip


@form(7)
def a_value_with_a_name_left_out(rng: Random) -> Problem:
    a, b = proper(rng)
    names = (r"\cos C", "|AB|", "E(X)", r"\tan\alpha", r"P(A \cup B)", r"\overline{AB}", "S_{ABC}",
             r"\sin\theta", r"\operatorname{Var}(X)", r"\angle A", "f(2)", r"\lambda", "a_{10}",
             r"\text{Area}", r"\vec{a}\cdot\vec{b}", "V_{max}", "|z|", "f'(1)",
             r"\sin^2 A", r"\det A", "m+n", r"\frac{a}{b}", "[ABC]", r"\triangle ABC")  # fmt: skip
    return problem(
        r"<name>=\frac{<a>}{<b>}",
        {
            "the name left out": r"\frac{<a>}{<b>}",
            "TeX's short fraction": r"<name>=\frac<a><b>",
            "inline": "<name>=<a>/<b>",
            "inline, left out": "<a>/<b>",
            "spaces": r"<name> = \dfrac{<a>}{<b>}",
        },
        {
            "upside down": r"<name>=\frac{<b>}{<a>}",
            "left out, upside down": r"\frac{<b>}{<a>}",
            "another sign": r"<name>=-\frac{<a>}{<b>}",
            "left out, another value": r"\frac{<a1>}{<b>}",
            "the name alone": "<name>",
        },
        a=a, b=b, a1=a + 1, name=rng.choice(names),
    )  # fmt: skip


@form(12)
def a_value_with_a_name_added(rng: Random) -> Problem:
    a = rng.randrange(2, 60)
    names = (r"\cos C", "|AB|", "E(X)", "AB", r"\angle ABC", "x", "f(3)", "a_5", "a_{n}", "S",
             r"\text{Area}", r"\text{Total}", "S_{10}", r"\overline{AB}", "n", "V", "P(X=2)",
             "|z|", r"\lambda", "d_{1}", r"\mathrm{Area}", r"\text{The area}", "m+n")  # fmt: skip
    one, other = rng.sample(names, 2)
    return problem(
        "<a>",
        {
            "named": "<one>=<a>",
            "named, spaces": "<other> = <a>",
            "named, dollars": "$<one> = <a>$",
            "named, an arithmetic": r"<other>=\frac{<a2>}{2}=<a>",
        },
        {
            "named, another value": "<one>=<b>",
            "named, another sign": "<other>=-<a>",
            "a false arithmetic": r"<one>=\frac{<a2>}{3}=<a>",
            "an inequality": "<other> > <a>",
            **{name: text for name, text in CONSTANTS.items() if name != "a sum"},
        },
        a=a, b=a + 1, a2=2 * a, one=one, other=other,
    )  # fmt: skip


@form(7)
def a_function(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 20), 2)
    return problem(
        "f(x)=<a>x+<b>",
        {
            "named y": "y=<a>x+<b>",
            "the name left out": "<a>x+<b>",
            "reordered": "f(x)=<b>+<a>x",
            "spaces": "f(x) = <a> x + <b>",
            "y, reordered": "y=<b>+<a>x",
            "sides exchanged": "<a>x+<b>=f(x)",
        },
        {
            "coefficients exchanged": "f(x)=<b>x+<a>",
            "another sign": "y=<a>x-<b>",
            "another argument": "f(t)=<a>x+<b>",
            "another argument on the right": "f(x)=<a>t+<b>",
            "left out, another sign": "<a>x-<b>",
            "the inverse": r"f(x)=\frac{x-<b>}{<a>}",
            "a zero": "<a>x+<b>=0",
        },
        a=a, b=b,
    )  # fmt: skip


@form()
def a_derivative(rng: Random) -> Problem:
    a = rng.randrange(2, 20)
    name = rng.choice((r"\frac{dy}{dx}", "y'", "f'(x)", r"\frac{\mathrm{d}y}{\mathrm{d}x}"))
    return problem(
        "<name>=<a>x",
        {
            "the name left out": "<a>x",
            "reordered": "<name>=x \\cdot <a>",
            "spaces": "<name> = <a> x",
        },
        {
            "another coefficient": "<name>=<b>x",
            "the function itself": "<name>=<a>x^2",
            "left out, another coefficient": "<b>x",
            "a constant": "<name>=<a>",
            "the second derivative": "y''=<a>x",
        },
        a=a, b=a + 1, name=name,
    )  # fmt: skip


@form()
def a_parabola(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        "y^2=<a>x",
        {
            "sides exchanged": "<a>x=y^2",
            "solved": r"x=\frac{y^2}{<a>}",
            "all on one side": "y^2-<a>x=0",
            "doubled": "2y^2=<a2>x",
            "a factor": r"x=\frac{1}{<a>}y^2",
        },
        {
            "symbols exchanged": "x^2=<a>y",
            "another sign": "y^2=-<a>x",
            "another parameter": "y^2=<b>x",
            "half of it": r"y=\sqrt{<a>x}",
            "not squared": "y=<a>x",
        },
        a=a, b=b, a2=2 * a,
    )  # fmt: skip


@form(6)
def roots_that_are_named(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 20), 2)
    return problem(
        r"x=<a> \text{ or } x=-<b>",
        {
            "exchanged": r"x=-<b> \text{ or } x=<a>",
            "a list": "<a>, -<b>",
            "subscripts": "x_1=<a>, x_2=-<b>",
            "subscripts in braces": r"x_{1}=<a>, x_{2}=-<b>",
            "and": r"x=<a> \text{ and } x=-<b>",
            "a comma": "x=<a>, -<b>",
            "a set": r"\{<a>,-<b>\}",
            "a set without backslashes": "{<a>, -<b>}",
        },
        {
            "one dropped": "x=<a>",
            "a sign": r"x=<a> \text{ or } x=<b>",
            "both signs": r"x=-<a> \text{ or } x=<b>",
            "another root": r"x=<a> \text{ or } x=-<c>",
            "subscripts, a sign": "x_1=<a>, x_2=<b>",
            "one added": r"x=<a>, x=-<b>, x=0",
            "a set without backslashes, a sign": "{<a>, <b>}",
        },
        a=a, b=b, c=b + 1,
    )  # fmt: skip


@form(4)
def an_exponential_equation(rng: Random) -> Problem:
    a, b = proper(rng)
    ratio = Fraction(b, a)
    return problem(
        r"x=\frac{\ln <b>}{\ln <a>}",
        {
            "a base": r"x=\log_{<a>} <b>",
            "the name left out": r"\log_{<a>}<b>",
            "decimal": r"x=\frac{\lg <b>}{\lg <a>}",
        },
        {
            "upside down": r"x=\frac{\ln <a>}{\ln <b>}",
            "the quotient's": r"x=\ln\frac{<b>}{<a>}",
            "the quotient": f"x={ratio}",
            "the difference": r"x=\ln <b>-\ln <a>",
        },
        a=a, b=b,
    )  # fmt: skip
