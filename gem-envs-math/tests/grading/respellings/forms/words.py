"""Words, letters of a choice, times of day, dates."""

from __future__ import annotations

from random import Random

from ..problem import Problem, form, problem

OPPOSITES = (
    ("increasing", "decreasing"), ("even", "odd"), ("convergent", "divergent"),
    ("always", "never"), ("parallel", "perpendicular"), ("acute", "obtuse"), ("true", "false"),
    ("ellipse", "hyperbola"), ("Monday", "Tuesday"), ("rational", "irrational"),
    ("continuous", "discontinuous"), ("bounded", "unbounded"), ("Alice", "Bob"),
    ("linear", "quadratic"), ("isosceles", "scalene"),
)  # fmt: skip


@form(12)
def a_word(rng: Random) -> Problem:
    one, other = rng.sample(rng.choice(OPPOSITES), 2)
    return problem(
        r"\text{<one>}",
        {
            "plain letters": "<one>",
            "capitals": r"\text{<capitals>}",
            "a full stop": r"\text{<one>.}",
            "bold": r"\textbf{<one>}",
            "upright": r"\mathrm{<one>}",
            "italic": r"\textit{<one>}",
            "dollars": r"$\text{<one>}$",
        },
        {
            "its opposite": r"\text{<other>}",
            "its opposite, plain": "<other>",
            "negated": r"\text{not <one>}",
            "both": r"\text{<one> or <other>}",
            "a number": "1",
            "half of it": r"\text{<half>}",
        },
        one=one, other=other, capitals=one.upper(), half=one[: len(one) // 2],
    )  # fmt: skip


@form(6)
def a_letter_of_a_choice(rng: Random) -> Problem:
    one, other = rng.sample("ABCDE", 2)
    a = rng.randrange(2, 90)
    return problem(
        r"\textbf{(<one>)}",
        {
            "the letter": "<one>",
            "brackets": "(<one>)",
            "text": r"\text{<one>}",
            "text with brackets": r"\text{(<one>)}",
            "with its meaning": r"\textbf{(<one>) } <a>",
            "a stop": "<one>.",
            "upright": r"\mathrm{(<one>)}",
        },
        {
            "another letter": "<other>",
            "another, brackets": "(<other>)",
            "another, with a meaning": r"\textbf{(<other>) } <a>",
            "both": "<one>, <other>",
            "a number": "<a>",
        },
        one=one, other=other, a=a,
    )  # fmt: skip


@form(5)
def letters_of_a_choice(rng: Random) -> Problem:
    one, two, other = rng.sample("ABCD", 3)
    return problem(
        r"\text{<one>, <two>}",
        {
            "exchanged": r"\text{<two>, <one>}",
            "and": r"\text{<one> and <two>}",
            "plain letters": "<one>, <two>",
            "no space": "<one>,<two>",
        },
        {
            "one dropped": r"\text{<one>}",
            "one added": r"\text{<one>, <two>, <other>}",
            "one changed": r"\text{<one>, <other>}",
        },
        one=one, two=two, other=other,
    )  # fmt: skip


@form(1)
def yes(rng: Random) -> Problem:
    return problem(
        r"\text{Yes}",
        {"small": "yes", "a stop": "Yes.", "bold": r"\textbf{Yes}", "upright": r"\mathrm{yes}"},
        {"no": r"\text{No}", "plain no": "no", "both": r"\text{Yes and no}", "one": "1"},
    )


@form(4)
def a_time_of_day(rng: Random) -> Problem:
    hour = rng.randrange(1, 12)
    minute = rng.randrange(10, 59)
    return problem(
        r"<h>:<m> \text{ p.m.}",
        {
            "capitals": r"<h>:<m> \text{ PM}",
            "text": r"\text{<h>:<m> p.m.}",
            "no dots": r"<h>:<m>\text{ pm}",
            "without the half": "<h>:<m>",
        },
        {
            "the other half": r"<h>:<m> \text{ a.m.}",
            "a minute later": r"<h>:<n> \text{ p.m.}",
            "an hour later": r"<k>:<m> \text{ p.m.}",
        },
        h=hour, m=minute, n=minute + 1, k=hour + 1,
    )  # fmt: skip


@form(1)
def no_solution(rng: Random) -> Problem:
    return problem(
        r"\text{no solution}",
        {
            "plural": r"\text{no solutions}",
            "capitals": r"\text{No solution}",
            "plain letters": "No solution.",
        },
        {
            "one": r"\text{one solution}",
            "infinitely many": r"\text{infinitely many solutions}",
            "zero": "x=0",
            "a number": "0",
            "all": r"\mathbb{R}",
        },
    )


@form(1)
def infinity(rng: Random) -> Problem:
    return problem(
        r"+\infty",
        {"without a sign": r"\infty", "Unicode": "∞", "in words": "infinity"},
        {
            "a sign": r"-\infty",
            "a number": "10^{100}",
            "nothing": "0",
            "both": r"\pm\infty",
            "does not exist": r"\text{does not exist}",
        },
    )


@form(1)
def what_does_not_exist(rng: Random) -> Problem:
    return problem(
        r"\text{does not exist}",
        {
            "capitals": r"\text{Does not exist.}",
            "DNE": r"\text{DNE}",
            "plain letters": "does not exist",
        },
        {"exists": r"\text{exists}", "zero": "0", "infinity": r"\infty", "a number": "1"},
    )
