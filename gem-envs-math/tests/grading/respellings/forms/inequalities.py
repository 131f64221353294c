"""Inequalities: with one bound or two, in one symbol or two."""

from __future__ import annotations

from random import Random

from ..problem import Problem, form, problem


@form(6)
def an_inequality_with_a_name(rng: Random) -> Problem:
    a = rng.randrange(2, 30)
    x = rng.choice("xtnmka")
    return problem(
        r"<x> \ge <a>",
        {
            "turned": r"<a> \le <x>",
            "geq": r"<x>\geq <a>",
            "slanted": r"<x> \geqslant <a>",
            "Unicode": "<x> ≥ <a>",
            "as in programs": "<x> >= <a>",
            "an interval": r"[<a>,\infty)",
            "an interval with the name": r"<x> \in [<a>,+\infty)",
            "both signs": r"-<x> \le -<a>",
            "doubled": r"2<x> \ge <a2>",
        },
        {
            "strict": "<x> > <a>",
            "the other direction": r"<x> \le <a>",
            "another bound": r"<x> \ge <b>",
            "another sign": r"<x> \ge -<a>",
            "another name": r"<y> \ge <a>",
            "an open interval": r"(<a>,\infty)",
            "an equation": "<x>=<a>",
            "the bound alone": "<a>",
            "multiplied, not turned": r"-<x> \ge -<a>",
        },
        a=a, b=a + 1, a2=2 * a, x=x, y="z",
    )  # fmt: skip


@form(6)
def a_double_inequality(rng: Random) -> Problem:
    a, b = sorted(rng.sample(range(2, 30), 2))
    return problem(
        r"-<a> < x \le <b>",
        {
            "turned": r"<b> \ge x > -<a>",
            "an interval": r"(-<a>,<b>]",
            "an interval with the name": r"x \in (-<a>,<b>]",
            "two inequalities": r"x > -<a> \text{ and } x \le <b>",
            "leq": r"-<a><x\leq <b>",
            "lt": r"-<a> \lt x \leqslant <b>",
        },
        {
            "the ends exchanged": r"-<a> \le x < <b>",
            "both closed": r"-<a> \le x \le <b>",
            "both open": r"(-<a>,<b>)",
            "another sign": r"<a> < x \le <b>",
            "one end": r"x \le <b>",
            "another end": r"-<a> < x \le <c>",
            "another name": r"-<a> < y \le <b>",
            "or for and": r"x > -<a> \text{ or } x \le <b>",
        },
        a=a, b=b, c=b + 1,
    )  # fmt: skip


@form(6)
def inequalities_joined_by_or(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 20), 2)
    return problem(
        r"x < -<a> \text{ or } x > <b>",
        {
            "exchanged": r"x > <b> \text{ or } x < -<a>",
            "a union": r"(-\infty,-<a>) \cup (<b>,\infty)",
            "with the name": r"x \in (-\infty,-<a>) \cup (<b>,+\infty)",
            "turned": r"-<a> > x \text{ or } <b> < x",
            "or in plain letters": "x < -<a> or x > <b>",
        },
        {
            "and for or": r"x < -<a> \text{ and } x > <b>",
            "closed": r"x \le -<a> \text{ or } x \ge <b>",
            "one dropped": "x > <b>",
            "between": "-<a> < x < <b>",
            "a sign": r"x < -<b1> \text{ or } x > <b>",
            "the union closed": r"(-\infty,-<a>] \cup [<b>,\infty)",
        },
        a=a, b=b, b1=a + 1,
    )  # fmt: skip


@form()
def an_inequality_in_two_symbols(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        r"y \le <a>x+<b>",
        {
            "turned": r"<a>x+<b> \ge y",
            "all on one side": r"y-<a>x-<b> \le 0",
            "both signs": r"-y \ge -<a>x-<b>",
            "doubled": r"2y \le <a2>x+<b2>",
        },
        {
            "the other direction": r"y \ge <a>x+<b>",
            "strict": "y < <a>x+<b>",
            "another sign": r"y \le <a>x-<b>",
            "an equation": "y = <a>x+<b>",
            "multiplied, not turned": r"-y \le -<a>x-<b>",
        },
        a=a, b=b, a2=2 * a, b2=2 * b,
    )  # fmt: skip


@form()
def a_value_that_is_not_taken(rng: Random) -> Problem:
    a = rng.randrange(2, 30)
    return problem(
        r"x \ne <a>",
        {
            "neq": r"x \neq <a>",
            "Unicode": "x ≠ <a>",
            "a union": r"(-\infty,<a>) \cup (<a>,\infty)",
            "less or greater": r"x < <a> \text{ or } x > <a>",
        },
        {
            "an equation": "x=<a>",
            "another value": r"x \ne <b>",
            "another sign": r"x \ne -<a>",
            "another name": r"y \ne <a>",
            "all": r"\mathbb{R}",
        },
        a=a, b=a + 1,
    )  # fmt: skip
