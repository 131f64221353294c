"""Sets, intervals, lists, and conditions that say what belongs to them."""

from __future__ import annotations

from random import Random

from ..problem import Problem, form, problem


@form(7)
def a_set(rng: Random) -> Problem:
    a, b, c = sorted(rng.sample(range(2, 30), 3))
    return problem(
        r"\{<a>,<b>,<c>\}",
        {
            "without backslashes": "{<a>,<b>,<c>}",
            "reordered": r"\{<c>,<a>,<b>\}",
            "without backslashes, reordered": "{<b>, <c>, <a>}",
            "left and right": r"\left\{<a>, <b>, <c>\right\}",
            "lbrace": r"\lbrace <a>,<b>,<c> \rbrace",
            "one twice": r"\{<a>,<b>,<b>,<c>\}",
            "a list": "<b>,<a>,<c>",
            "named": r"S=\{<a>,<b>,<c>\}",
        },
        {
            "one dropped": r"\{<a>,<b>\}",
            "one added": r"\{<a>,<b>,<c>,1\}",
            "one changed": r"\{<a>,<b>,<d>\}",
            "a sign": r"\{-<a>,<b>,<c>\}",
            "without backslashes, one dropped": "{<a>,<b>}",
            "without backslashes, one changed": "{<a>,<b>,<d>}",
            "empty": r"\{\}",
        },
        a=a, b=b, c=c, d=c + 1,
    )  # fmt: skip


@form(5)
def a_set_without_backslashes(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 30), 2)
    return problem(
        "{<a>,-<b>}",
        {
            "with backslashes": r"\{<a>,-<b>\}",
            "reordered": "{-<b>,<a>}",
            "spaces": "{<a>, -<b>}",
            "a list": "<a>, -<b>",
        },
        {
            "one dropped": "{<a>}",
            "a sign": "{<a>,<b>}",
            "one added": r"\{<a>,-<b>,0\}",
        },
        a=a, b=b,
    )  # fmt: skip


@form(6)
def a_list(rng: Random) -> Problem:
    a, b, c = rng.sample(range(2, 40), 3)
    return problem(
        r"<a>,-<b>,\frac{<c>}{41}",
        {
            "reordered": r"-<b>,\frac{<c>}{41},<a>",
            "and": r"<a>, -<b> \text{ and } \frac{<c>}{41}",
            "semicolons": r"<a>; -<b>; \frac{<c>}{41}",
            "named": r"x=<a>,x=-<b>,x=\frac{<c>}{41}",
            "a set": r"\{<a>,-<b>,\frac{<c>}{41}\}",
        },
        {
            "one dropped": "<a>,-<b>",
            "one added": r"<a>,-<b>,\frac{<c>}{41},0",
            "a sign": r"<a>,<b>,\frac{<c>}{41}",
            "one twice": r"<a>,<a>,-<b>,\frac{<c>}{41}",
            "one twice for another": r"<a>,<a>,\frac{<c>}{41}",
            "the last turned": r"<a>,-<b>,\frac{41}{<c>}",
        },
        a=a, b=b, c=c,
    )  # fmt: skip


@form(6)
def an_interval(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 30), 2)
    return problem(
        "(-<a>,<b>]",
        {
            "left and right": r"\left(-<a>, <b>\right]",
            "a double inequality": r"-<a> < x \le <b>",
            "a set": r"\{x \mid -<a> < x \le <b>\}",
            "a set with a colon": r"\{x : -<a> < x \leq <b>\}",
            "with a name": r"x \in (-<a>,<b>]",
            "doubled ends": r"\left(-\frac{<a2>}{2},\frac{<b2>}{2}\right]",
        },
        {
            "open": "(-<a>,<b>)",
            "closed": "[-<a>,<b>]",
            "the ends exchanged": "[-<a>,<b>)",
            "a sign": "(-<a>,-<b>]",
            "another end": "(-<a>,<c>]",
            "a strict inequality": "-<a> < x < <b>",
            "a set of others": r"\{x \mid -<a> \le x \le <b>\}",
            "its ends": "-<a>,<b>",
        },
        a=a, b=b, c=b + 1, a2=2 * a, b2=2 * b,
    )  # fmt: skip


@form(6)
def a_union_of_intervals(rng: Random) -> Problem:
    a, b, c = sorted(rng.sample(range(2, 30), 3))
    return problem(
        r"(-\infty,<a>] \cup (<b>,<c>)",
        {
            "exchanged": r"(<b>,<c>) \cup (-\infty,<a>]",
            "left and right": r"\left(-\infty,<a>\right]\cup\left(<b>,<c>\right)",
            "inequalities": r"x \le <a> \text{ or } <b> < x < <c>",
            "with a name": r"x \in (-\infty,<a>] \cup (<b>,<c>)",
            "in two parts": r"(-\infty,1] \cup (1,<a>] \cup (<b>,<c>)",
            "Unicode": "(-\u221e,<a>] \u222a (<b>,<c>)",
        },
        {
            "one end opened": r"(-\infty,<a>) \cup (<b>,<c>)",
            "one end closed": r"(-\infty,<a>] \cup [<b>,<c>)",
            "one dropped": r"(-\infty,<a>]",
            "the intersection": r"(-\infty,<a>] \cap (<b>,<c>)",
            "joined": r"(-\infty,<c>)",
            "another end": r"(-\infty,<a>] \cup (<b>,<d>)",
            "a hole": r"(-\infty,1) \cup (1,<a>] \cup (<b>,<c>)",
        },
        a=a, b=b, c=c, d=c + 1,
    )  # fmt: skip


@form(5)
def a_set_by_a_condition(rng: Random) -> Problem:
    a = rng.randrange(2, 30)
    return problem(
        r"\{x \mid x > <a>\}",
        {
            "a colon": r"\{x : x > <a>\}",
            "a bar": r"\{x | x > <a>\}",
            "an interval": r"(<a>,\infty)",
            "the condition": "x > <a>",
            "real": r"\{x \in \mathbb{R} \mid x > <a>\}",
            "another letter": r"\{t \mid t > <a>\}",
            "turned": r"\{x \mid <a> < x\}",
            "left and right": r"\left\{x \,\middle|\, x > <a>\right\}",
        },
        {
            "closed": r"\{x \mid x \ge <a>\}",
            "the other direction": r"\{x \mid x < <a>\}",
            "another bound": r"\{x \mid x > <b>\}",
            "a closed interval": r"[<a>,\infty)",
            "a sign": r"\{x \mid x > -<a>\}",
            "integers": r"\{x \in \mathbb{Z} \mid x > <a>\}",
        },
        a=a, b=a + 1,
    )  # fmt: skip


@form(1)
def all_real_numbers(rng: Random) -> Problem:
    return problem(
        r"\mathbb{R}",
        {
            "without braces": r"\mathbb R",
            "in words": r"\text{all real numbers}",
            "in plain words": "all real numbers",
            "an interval": r"(-\infty,\infty)",
            "with a plus": r"(-\infty,+\infty)",
            "with a name": r"x \in \mathbb{R}",
            "bold": r"\mathbf{R}",
            "Unicode": "\u211d",
        },
        {
            "integers": r"\mathbb{Z}",
            "rational numbers": r"\mathbb Q",
            "complex numbers": r"\mathbb{C}",
            "integers in words": r"\text{all integers}",
            "positive ones": r"(0,\infty)",
            "without zero": r"\mathbb{R} \setminus \{0\}",
            "without zero, in words": r"\text{all nonzero real numbers}",
            "positive ones in words": r"\text{all positive real numbers}",
            "the plane": r"\mathbb{R}^2",
            "none": r"\emptyset",
        },
    )  # fmt: skip


@form(1)
def all_real_numbers_in_words(rng: Random) -> Problem:
    return problem(
        r"\text{all real numbers}",
        {
            "the set": r"\mathbb R",
            "an interval": r"(-\infty,\infty)",
            "plain letters": "All real numbers.",
        },
        {
            "integers": r"\text{all integers}",
            "the integers' set": r"\mathbb{Z}",
            "none": r"\text{no real numbers}",
            "positive ones": r"\text{all positive real numbers}",
            "half of them": r"(0,\infty)",
        },
    )  # fmt: skip


@form(5)
def all_real_numbers_but_one(rng: Random) -> Problem:
    a = rng.randrange(2, 30)
    return problem(
        r"\mathbb{R} \setminus \{<a>\}",
        {
            "a union": r"(-\infty,<a>) \cup (<a>,\infty)",
            "not equal": r"x \ne <a>",
            "without braces": r"\mathbb R \setminus \{<a>\}",
            "backslash": r"\mathbb{R} \backslash \{<a>\}",
            "with a name": r"x \in \mathbb{R} \setminus \{<a>\}",
        },
        {
            "all": r"\mathbb{R}",
            "another one": r"\mathbb{R} \setminus \{<b>\}",
            "integers": r"\mathbb{Z} \setminus \{<a>\}",
            "a sign": r"x \ne -<a>",
            "two": r"\mathbb{R} \setminus \{<a>,0\}",
            "the one": "<a>",
        },
        a=a, b=a + 1,
    )  # fmt: skip


@form(1)
def the_empty_set(rng: Random) -> Problem:
    return problem(
        r"\emptyset",
        {
            "varnothing": r"\varnothing",
            "braces": r"\{\}",
            "Unicode": "∅",
            "with a name": r"x \in \emptyset",
        },
        {
            "zero": "0",
            "its set": r"\{0\}",
            "the set of it": r"\{\emptyset\}",
            "all": r"\mathbb{R}",
        },
    )  # fmt: skip


@form(5)
def a_range(rng: Random) -> Problem:
    a = rng.randrange(2, 30)
    return problem(
        r"[-<a>,+\infty)",
        {
            "without a plus": r"[-<a>,\infty)",
            "left and right": r"\left[-<a>,+\infty\right)",
            "an inequality": r"y \ge -<a>",
            "a parameter": r"a \in [-<a>,\infty)",
            "a set": r"\{y \mid y \geq -<a>\}",
        },
        {
            "open": r"(-<a>,+\infty)",
            "a sign": r"[<a>,+\infty)",
            "the other direction": r"(-\infty,-<a>]",
            "strict": "y > -<a>",
            "a set of others": r"\{y \mid y > -<a>\}",
        },
        a=a,
    )  # fmt: skip


@form(5)
def an_intersection_of_conditions(rng: Random) -> Problem:
    a, b = sorted(rng.sample(range(2, 30), 2))
    return problem(
        r"<a> \le x < <b>, x \in \mathbb{Z}",
        {
            "spaces": r"<a> \leq x < <b>,\quad x \in \mathbb Z",
            "turned": r"<b> > x \ge <a>, x \in \mathbb{Z}",
            "the condition first": r"x \in \mathbb{Z}, <a> \le x < <b>",
        },
        {
            "another end": r"<a> \le x < <c>, x \in \mathbb{Z}",
            "both strict": r"<a> < x < <b>, x \in \mathbb{Z}",
            "another set": r"<a> \le x < <b>, x \in \mathbb{R}",
        },
        a=a, b=b, c=b + 1,
    )  # fmt: skip


@form(4)
def three_points(rng: Random) -> Problem:
    a, b, c = rng.sample(range(2, 20), 3)
    return problem(
        "(<a>,-<b>),(<c>,<a>),(0,<b>)",
        {
            "reordered": "(<c>,<a>),(0,<b>),(<a>,-<b>)",
            "spaces": "( <a> , -<b> ), ( <c> , <a> ), ( 0 , <b> )",
            "and": r"(<a>,-<b>),(<c>,<a>) \text{ and } (0,<b>)",
            "a set": r"\{(<a>,-<b>),(<c>,<a>),(0,<b>)\}",
            "named": "(x,y)=(<a>,-<b>),(<c>,<a>),(0,<b>)",
        },
        {
            "one dropped": "(<a>,-<b>),(<c>,<a>)",
            "one turned": "(-<b>,<a>),(<c>,<a>),(0,<b>)",
            "a sign": "(<a>,<b>),(<c>,<a>),(0,<b>)",
            "one added": "(<a>,-<b>),(<c>,<a>),(0,<b>),(0,0)",
            "shuffled within": "(<c>,-<b>),(<a>,<a>),(0,<b>)",
        },
        a=a, b=b, c=c,
    )  # fmt: skip
