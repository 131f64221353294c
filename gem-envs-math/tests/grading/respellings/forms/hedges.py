"""Answers that hold the gold and more: what a policy writes that would earn by every reading."""

from __future__ import annotations

from random import Random

from ..problem import Problem, form, problem


@form(6)
def a_hedged_number(rng: Random) -> Problem:
    a = rng.randrange(12, 90)
    return problem(
        "<a>",
        {"a set of one": r"\{<a>\}", "a chain": r"\frac{<a2>}{2}=<a>", "a name": "N=<a>"},
        {
            "or the next": r"<a> \text{ or } <b>",
            "and the next": "<a>, <b>",
            "a set": r"\{<a>, <b>\}",
            "a set without backslashes": "{<a>, <b>}",
            "a false equation": "<a>=<b>",
            "a false equation, turned": "<b>=<a>",
            "a false chain": "x=<a>=<b>",
            "a false chain, turned": "x=<b>=<a>",
            "two values of a name": "x=<a>, x=<b>",
            "values of two names": "x=<a>, y=<b>",
            "subscripted values": "x_1=<a>, x_2=<b>",
            "an interval": "[<a>, <b>]",
            "an interval of one point": "(<a>, <a>)",
            "at least": r"x \ge <a>",
            "a double inequality": r"<a> \le x \le <b>",
            "plus or minus": r"<a> \pm 1",
            "not": r"x \ne <a>",
            "not, in words": r"\text{not } <a>",
            "all real numbers": r"\mathbb{R}",
            "a choice of it": r"\textbf{(A) } <a> \textbf{ (B) } <b>",
            "a symbol": "x",
            "a name alone": "x=",
            "an open name": r"x=x",
            "a symbol more": "<a>x",
            "a symbol's power": "<a>x^0+x",
            "an unknown": "<a>+c",
            "a question": "<a>?+1",
            "of a function": "f(<a>)",
            "below a name": "x_{<a>}",
            "in a prose": r"\text{It is not } <a> \text{ but } <b>",
        },
        a=a, b=a + 1, a2=2 * a,
    )  # fmt: skip


@form(5)
def a_hedged_expression(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 20), 2)
    return problem(
        "<a>x+<b>",
        {"a name": "y=<a>x+<b>", "a chain": r"\frac{2 \cdot <a>x+2 \cdot <b>}{2}=<a>x+<b>"},
        {
            "or another": r"<a>x+<b> \text{ or } <b>x+<a>",
            "and another": "<a>x+<b>, <b>x+<a>",
            "a false chain": "y=<a>x+<b>=<b>x+<a>",
            "an equation": "<a>x+<b>=0",
            "an equation with a number": "<a>x+<b>=<b>",
            "plus a constant": "<a>x+<b>+c",
            "plus or minus": r"\pm(<a>x+<b>)",
            "the family": "mx+n",
            "its name": "f(x)",
            "a name equal to itself": "f(x)=f(x)",
            "at least": r"y \ge <a>x+<b>",
            "of a function": "f(<a>x+<b>)",
        },
        a=a, b=b,
    )  # fmt: skip


@form(5)
def a_hedged_equation(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 20), 2)
    return problem(
        "y=<a>x-<b>",
        {"all on one side": "<a>x-y-<b>=0", "a factor": r"y=\frac{2 \cdot <a>x-2 \cdot <b>}{2}"},
        {
            "a product with another": "(y-<a>x+<b>)(y-<b>x+<a>)=0",
            "a product with zero": "0 \\cdot (y-<a>x+<b>)=0",
            "squared sides": "y^2=(<a>x-<b>)^2",
            "a true equation": "y-<a>x=y-<a>x",
            "two equations": "y=<a>x-<b>, y=<b>x-<a>",
            "an open slope": "y=mx-<b>",
            "the value of a point": "y=<a>-<b>",
            "either sign": r"y=\pm(<a>x-<b>)",
            "an inequality": r"y \ge <a>x-<b>",
            "not": r"y \ne <a>x-<b>",
            "a multiple of nothing": "0=0",
            "cubed": "y^3=<a>x-<b>",
        },
        a=a, b=b,
    )  # fmt: skip


@form(5)
def a_hedged_interval(rng: Random) -> Problem:
    a, b = sorted(rng.sample(range(2, 30), 2))
    return problem(
        "(<a>,<b>]",
        {"an inequality": r"<a> < x \le <b>", "a name": r"m \in (<a>,<b>]"},
        {
            "all": r"(-\infty,\infty)",
            "or another": r"(<a>,<b>] \text{ or } [<a>,<b>)",
            "with another": r"(<a>,<b>] \cup [<b>,<c>)",
            "two of them": "(<a>,<b>], [<a>,<b>)",
            "empty": "(<b>,<a>]",
            "without inner points": r"\{<a>,<b>\}",
            "its complement": r"x \le <a> \text{ or } x > <b>",
            "not in it": r"x \notin (<a>,<b>]",
            "not in it, long": r"x \not\in (<a>,<b>]",
            "one end": r"x > <a>",
        },
        a=a, b=b, c=b + 3,
    )  # fmt: skip


@form(5)
def a_hedged_pair(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 30), 2)
    return problem(
        "(<a>,<b>)",
        {"names": "x=<a>, y=<b>", "spaces": r"\left( <a> , <b> \right)"},
        {
            "both orders": "(<a>,<b>),(<b>,<a>)",
            "a set": r"\{(<a>,<b>),(<b>,<a>)\}",
            "either order": r"(<a>,<b>) \text{ or } (<b>,<a>)",
            "a sum": "<a>+<b>",
            "a closed interval": "[<a>,<b>]",
            "nested": "((<a>,<b>),<b>)",
            "one twice": "(<a>,<b>,<b>)",
            "open coordinates": "(x,y)",
            "a union": r"(<a>,<b>) \cup (<b>,<a>)",
            "one open": "(<a>,y)",
        },
        a=a, b=b,
    )  # fmt: skip


@form(5)
def a_hedged_quantity(rng: Random) -> Problem:
    a = rng.randrange(12, 90)
    return problem(
        r"<a>\,\text{cm}",
        {"without a unit": "<a>", "metres": r"0.<a>\,\text{m}"},
        {
            "two units": r"<a>\,\text{cm or m}",
            "two quantities": r"<a>\,\text{cm}, <a>\,\text{m}",
            "a unit of units": r"<a>\,\text{cm m}",
            "a quotient": r"<a>\,\text{cm/m}",
            "a power of nothing": r"<a>\,\text{cm}^0",
            "an inverse": r"<a>\,\text{cm}^{-1}",
            "a dozen": r"<a> \text{ dozen cm}",
            "half of it": r"<a> \text{ half centimeters}",
            "two numbers": r"<a>\,\text{cm} <b>\,\text{cm}",
            "feet": r"<a>'",
        },
        a=a, b=a + 1,
    )  # fmt: skip


@form(5)
def a_hedged_set_of_roots(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 30), 2)
    return problem(
        "x=<a>, x=<b>",
        {"plain": "<b>, <a>", "a set": r"x \in \{<a>,<b>\}"},
        {
            "not in it": r"x \notin \{<a>,<b>\}",
            "between": "<a> < x < <b>",
            "one more": "<a>, <b>, <c>",
            "one twice": "<a>, <a>",
            "a chain": "x=<a>=<b>",
            "another name in one": "x=<a>, y=<b>",
            "a product": "x=<a> \\cdot <b>",
            "either sign": r"x=\pm <a>, x=\pm <b>",
            "all but them": r"x \ne <a>, x \ne <b>",
        },
        a=a, b=b, c=a + b,
    )  # fmt: skip


@form(4)
def a_hedged_choice(rng: Random) -> Problem:
    one, other = rng.sample("ABCDE", 2)
    return problem(
        r"\text{(<one>)}",
        {"the letter": "<one>", "bold": r"\textbf{<one>}"},
        {
            "all letters": "ABCDE",
            "two letters": "<one><other>",
            "either": r"\text{<one> or <other>}",
            "both, brackets": "(<one>)(<other>)",
            "not": r"\text{not <one>}",
            "a name": "<one>=<other>",
            "a list": "<one>, <other>",
            "in a word": r"\text{<one>ny}",
        },
        one=one, other=other,
    )  # fmt: skip
