"""Golds in prose with formulas: every formula of them counts."""

from __future__ import annotations

from random import Random

from ..problem import Problem, form, problem


@form(5)
def a_plane_in_prose(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 30), 2)
    return problem(
        "It is the plane $y=<a>$.",
        {
            "without the stop": "It is the plane $y=<a>$",
            "spaces": "It is the  plane $y = <a>$.",
            "itself in text": r"\text{It is the plane } y=<a>\text{.}",
        },
        {
            "another plane": "It is the plane $y=<b>$.",
            "another equation": "It is the plane $2x+3y-z=0$.",
            "another name": "It is the plane $x=<a>$.",
            "another body": "It is the sphere $y=<a>$.",
            "negated": "It is not the plane $y=<a>$.",
            "another one added": "It is the plane $y=<a>$ or the plane $y=<b>$.",
            "a contradiction": "1=0",
        },
        a=a, b=b,
    )  # fmt: skip


@form(5)
def two_values_in_prose(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 30), 2)
    return problem(
        "The maximum is $<a>$ and the minimum is $-<b>$.",
        {
            "without the stop": "The maximum is $<a>$ and the minimum is $-<b>$",
            "spaces": "The maximum is $ <a> $ and the minimum is $ -<b> $.",
            "text": r"\text{The maximum is } <a> \text{ and the minimum is } -<b>.",
        },
        {
            "exchanged": "The maximum is $-<b>$ and the minimum is $<a>$.",
            "the first changed": "The maximum is $<c>$ and the minimum is $-<b>$.",
            "the second changed": "The maximum is $<a>$ and the minimum is $<b>$.",
            "the first alone": "<a>",
            "the second alone": "-<b>",
            "words exchanged": "The minimum is $<a>$ and the maximum is $-<b>$.",
        },
        a=a, b=b, c=a + 1,
    )  # fmt: skip


@form(5)
def a_condition_in_prose(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 30), 2)
    return problem(
        "The function has two zeros when $a > <a>$ and one zero when $a = <a>$.",
        {
            "spaces": "The function has two zeros when $a><a>$ and one zero when $a=<a>$.",
            "without the stop": "The function has two zeros when $a > <a>$ and one zero when "
            "$a = <a>$",
        },
        {
            "the first changed": "The function has two zeros when $a < <a>$ and one zero when "
            "$a = <a>$.",
            "the second changed": "The function has two zeros when $a > <a>$ and one zero when "
            "$a = <b>$.",
            "exchanged": "The function has two zeros when $a = <a>$ and one zero when $a > <a>$.",
            "the first alone": "$a > <a>$",
            "the second alone": "$a = <a>$",
        },
        a=a, b=b,
    )  # fmt: skip


@form(5)
def intervals_in_prose(rng: Random) -> Problem:
    a = rng.randrange(2, 30)
    return problem(
        r"f(x) is increasing on $(-\infty,<a>)$ and decreasing on $(<a>,+\infty)$",
        {
            "spaces": r"f(x) is increasing on $(-\infty, <a>)$ and decreasing on $(<a>, +\infty)$",
            "a stop": r"f(x) is increasing on $(-\infty,<a>)$ and decreasing on $(<a>,+\infty)$.",
        },
        {
            "exchanged": r"f(x) is increasing on $(<a>,+\infty)$ and decreasing on $(-\infty,<a>)$",
            "words exchanged": r"f(x) is decreasing on $(-\infty,<a>)$ and increasing on "
            r"$(<a>,+\infty)$",
            "the first changed": r"f(x) is increasing on $(-\infty,-<a>)$ and decreasing on "
            r"$(<a>,+\infty)$",
            "the first alone": r"$(-\infty,<a>)$",
            "the second alone": r"$(<a>,+\infty)$",
        },
        a=a,
    )  # fmt: skip


@form(5)
def a_definition_in_prose(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 30), 2)
    return problem(
        r"$f(x)=<a>x$ for all $x$, where $f(1)=<a>$",
        {
            "spaces": r"$f(x) = <a>x$ for all $x$, where $f(1) = <a>$",
            "a stop": r"$f(x)=<a>x$ for all $x$, where $f(1)=<a>$.",
        },
        {
            "the first changed": r"$f(x)=<b>x$ for all $x$, where $f(1)=<a>$",
            "the second changed": r"$f(x)=<a>x$ for all $x$, where $f(1)=<b>$",
            "another function": r"$f(x)=<b>x$ for all $x$, where $f(1)=<b>$",
            "the second alone": "$f(1)=<a>$",
            "a letter": "x",
        },
        a=a, b=b,
    )  # fmt: skip


@form(5)
def numbers_in_prose(rng: Random) -> Problem:
    a = rng.randrange(3, 30)
    return problem(
        r"\text{all } n \text{ not divisible by } <a>",
        {
            "spaces": r"\text{all }n\text{ not divisible by }<a>",
            "dollars": "all $n$ not divisible by $<a>$",
            "plain letters": "all n not divisible by <a>",
        },
        {
            "divisible": r"\text{all } n \text{ divisible by } <a>",
            "another number": r"\text{all } n \text{ not divisible by } <b>",
            "the number": "<a>",
            "the letter": "n",
            "all": r"\text{all } n",
        },
        a=a, b=a + 1,
    )  # fmt: skip


@form(4)
def pairs_with_a_condition(rng: Random) -> Problem:
    a = rng.randrange(3, 30)
    return problem(
        r"$(n, <a>n)$ for every positive integer $n$",
        {
            "spaces": r"$(n,<a>n)$ for every positive integer $n$",
            "a stop": r"$(n, <a>n)$ for every positive integer $n$.",
        },
        {
            "exchanged": r"$(<a>n, n)$ for every positive integer $n$",
            "another number": r"$(n, <b>n)$ for every positive integer $n$",
            "negative ones": r"$(n, <a>n)$ for every negative integer $n$",
            "the letter": "n",
        },
        a=a, b=a + 1,
    )  # fmt: skip
