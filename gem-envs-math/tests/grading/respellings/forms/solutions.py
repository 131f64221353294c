"""Solutions with parameters: whole numbers, constants of integration, residues."""

from __future__ import annotations

from math import gcd
from random import Random

from ..problem import Problem, form, problem


@form(8)
def a_general_solution(rng: Random) -> Problem:
    b = rng.choice((3, 4, 5, 6, 7, 8, 9))
    return problem(
        r"x=\frac{\pi}{<b>}+k\pi, k \in \mathbb{Z}",
        {
            "another letter": r"x=\frac{\pi}{<b>}+n\pi, n \in \mathbb{Z}",
            "reordered": r"x=k\pi+\frac{\pi}{<b>}, k \in \mathbb{Z}",
            "without braces": r"x = \frac\pi<b> + k\pi, k \in \mathbb Z",
            "spaces": r"x=\frac{\pi}{<b>}+k\pi,\quad k\in\mathbb{Z}",
            "brackets": r"x=\frac{\pi}{<b>}+k\pi \ (k \in \mathbb{Z})",
            "factors exchanged": r"x=\frac{\pi}{<b>}+\pi k, k \in \mathbb{Z}",
            "one fraction": r"x=\frac{(<b>k+1)\pi}{<b>}, k \in \mathbb{Z}",
        },
        {
            "twice the period": r"x=\frac{\pi}{<b>}+2k\pi, k \in \mathbb{Z}",
            "a sign": r"x=-\frac{\pi}{<b>}+k\pi, k \in \mathbb{Z}",
            "another angle": r"x=\frac{\pi}{<c>}+k\pi, k \in \mathbb{Z}",
            "the period dropped": r"x=\frac{\pi}{<b>}",
            "both signs": r"x=\pm\frac{\pi}{<b>}+k\pi, k \in \mathbb{Z}",
            "natural numbers": r"x=\frac{\pi}{<b>}+k\pi, k \in \mathbb{N}",
            "the condition alone": r"k \in \mathbb{Z}",
            "half the period": r"x=\frac{\pi}{<b>}+\frac{k\pi}{2}, k \in \mathbb{Z}",
        },
        b=b, c=b + 3,
    )  # fmt: skip


@form(5)
def a_general_solution_in_two_families(rng: Random) -> Problem:
    a, b = rng.sample((3, 4, 5, 6, 8), 2)
    return problem(
        r"x=\frac{\pi}{<a>}+2k\pi \text{ or } x=\frac{\pi}{<b>}+2k\pi, k \in \mathbb{Z}",
        {
            "exchanged": r"x=\frac{\pi}{<b>}+2k\pi \text{ or } x=\frac{\pi}{<a>}+2k\pi, "
            r"k \in \mathbb{Z}",
            "reordered": r"x=2k\pi+\frac{\pi}{<a>} \text{ or } x=2k\pi+\frac{\pi}{<b>}, "
            r"k \in \mathbb{Z}",
            "another letter": r"x=\frac{\pi}{<a>}+2n\pi \text{ or } x=\frac{\pi}{<b>}+2n\pi, "
            r"n \in \mathbb{Z}",
        },
        {
            "one dropped": r"x=\frac{\pi}{<a>}+2k\pi, k \in \mathbb{Z}",
            "half the period": r"x=\frac{\pi}{<a>}+k\pi \text{ or } x=\frac{\pi}{<b>}+k\pi, "
            r"k \in \mathbb{Z}",
            "a sign": r"x=\frac{\pi}{<a>}+2k\pi \text{ or } x=-\frac{\pi}{<b>}+2k\pi, "
            r"k \in \mathbb{Z}",
            "no periods": r"x=\frac{\pi}{<a>} \text{ or } x=\frac{\pi}{<b>}",
        },
        a=a, b=b,
    )  # fmt: skip


@form(5)
def an_interval_with_a_parameter(rng: Random) -> Problem:
    a = rng.choice((3, 4, 5, 6, 8))
    return problem(
        r"\left[k\pi-\frac{\pi}{<a>}, k\pi+\frac{\pi}{<a>}\right], k \in \mathbb{Z}",
        {
            "plain brackets": r"[k\pi-\frac{\pi}{<a>}, k\pi+\frac{\pi}{<a>}], k \in \mathbb{Z}",
            "reordered": r"\left[-\frac{\pi}{<a>}+k\pi, \frac{\pi}{<a>}+k\pi\right], "
            r"k \in \mathbb{Z}",
            "brackets round the condition": r"\left[k\pi-\frac{\pi}{<a>}, "
            r"k\pi+\frac{\pi}{<a>}\right](k \in \mathbb{Z})",
        },
        {
            "open": r"\left(k\pi-\frac{\pi}{<a>}, k\pi+\frac{\pi}{<a>}\right), k \in \mathbb{Z}",
            "twice the period": r"\left[2k\pi-\frac{\pi}{<a>}, 2k\pi+\frac{\pi}{<a>}\right], "
            r"k \in \mathbb{Z}",
            "another end": r"\left[k\pi-\frac{\pi}{<a>}, k\pi+\frac{\pi}{<b>}\right], "
            r"k \in \mathbb{Z}",
            "no period": r"\left[-\frac{\pi}{<a>}, \frac{\pi}{<a>}\right]",
        },
        a=a, b=a + 1,
    )  # fmt: skip


@form(6)
def a_solution_with_two_constants(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        "y=C_1e^{<a>x}+C_2e^{-<b>x}",
        {
            "braces": "y=C_{1}e^{<a>x}+C_{2}e^{-<b>x}",
            "the function named": "y(x)=C_1e^{<a>x}+C_2e^{-<b>x}",
            "reordered": "y=C_2e^{-<b>x}+C_1e^{<a>x}",
            "the name left out": "C_1e^{<a>x}+C_2e^{-<b>x}",
            "spaces": r"y = C_1 e^{<a> x} + C_2 e^{-<b> x}",
            "exp": r"y=C_1\exp(<a>x)+C_2\exp(-<b>x)",
        },
        {
            "a sign above": "y=C_1e^{<a>x}+C_2e^{<b>x}",
            "one dropped": "y=C_1e^{<a>x}",
            "no constants": "y=e^{<a>x}+e^{-<b>x}",
            "another exponent": "y=C_1e^{<c>x}+C_2e^{-<b>x}",
            "trigonometric": r"y=C_1\cos <a>x+C_2\sin <b>x",
            "one constant": "y=C_1e^{<a>x}+C_1e^{-<b>x}",
        },
        a=a, b=b, c=a + 1,
    )  # fmt: skip


@form(6)
def a_solution_that_oscillates(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        r"y(t)=e^{-<a>t}(c_1\cos <b>t+c_2\sin <b>t)",
        {
            "braces": r"y(t)=e^{-<a>t}\left(c_{1}\cos(<b>t)+c_{2}\sin(<b>t)\right)",
            "multiplied": r"y(t)=c_1e^{-<a>t}\cos <b>t+c_2e^{-<a>t}\sin <b>t",
            "the argument left out": r"y=e^{-<a>t}(c_1\cos <b>t+c_2\sin <b>t)",
            "the name left out": r"e^{-<a>t}(c_1\cos <b>t+c_2\sin <b>t)",
            "reordered": r"y(t)=(c_2\sin <b>t+c_1\cos <b>t)e^{-<a>t}",
        },
        {
            "a sign above": r"y(t)=e^{<a>t}(c_1\cos <b>t+c_2\sin <b>t)",
            "frequencies exchanged": r"y(t)=e^{-<b>t}(c_1\cos <a>t+c_2\sin <a>t)",
            "one dropped": r"y(t)=c_1e^{-<a>t}\cos <b>t",
            "without damping": r"y(t)=c_1\cos <b>t+c_2\sin <b>t",
            "another variable": r"y(x)=e^{-<a>x}(c_1\cos <b>t+c_2\sin <b>t)",
        },
        a=a, b=b,
    )  # fmt: skip


@form(5)
def a_solution_with_one_constant(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 9), 2)
    return problem(
        r"y=Ce^{-<a>x}+\frac{<b>}{<a>}",
        {
            "reordered": r"y=\frac{<b>}{<a>}+Ce^{-<a>x}",
            "the function named": r"y(x)=Ce^{-<a>x}+\frac{<b>}{<a>}",
            "a quotient": r"y=\frac{C}{e^{<a>x}}+\frac{<b>}{<a>}",
            "spaces": r"y = C e^{-<a> x} + <b>/<a>",
        },
        {
            "a sign above": r"y=Ce^{<a>x}+\frac{<b>}{<a>}",
            "the particular one's sign": r"y=Ce^{-<a>x}-\frac{<b>}{<a>}",
            "no constant": r"y=e^{-<a>x}+\frac{<b>}{<a>}",
            "turned": r"y=Ce^{-<a>x}+\frac{<a>}{<b>}",
            "the homogeneous part": "y=Ce^{-<a>x}",
        },
        a=a, b=b,
    )  # fmt: skip


@form(7)
def a_congruence(rng: Random) -> Problem:
    m = rng.choice((7, 9, 11, 13, 17))
    a = rng.randrange(2, m - 1)
    return problem(
        r"x \equiv <a> \pmod{<m>}",
        {
            "mod": r"x \equiv <a> \mod <m>",
            "bmod": r"x \equiv <a> \bmod <m>",
            "text": r"x \equiv <a> \ (\text{mod } <m>)",
            "the name left out": r"<a> \pmod{<m>}",
            "another representative": r"x \equiv <b> \pmod{<m>}",
            "a negative one": r"x \equiv <c> \pmod{<m>}",
            "without braces": r"x\equiv <a>\pmod {<m>}",
        },
        {
            "another residue": r"x \equiv <d> \pmod{<m>}",
            "another modulus": r"x \equiv <a> \pmod{<n>}",
            "a sign": r"x \equiv -<d> \pmod{<m>}" if (2 * a + 1) % m else r"x \equiv 0 \pmod{<m>}",
            "another name": r"y \equiv <a> \pmod{<m>}",
            "left out, another residue": r"<d> \pmod{<m>}",
        },
        a=a, m=m, b=a + m, c=a - m, d=a + 1, n=m + 2,
    )  # fmt: skip


@form(5)
def numbers_of_a_kind(rng: Random) -> Problem:
    while True:
        a, b = rng.sample(range(2, 12), 2)
        if gcd(a, b) == 1:
            break
    return problem(
        r"n=<a>k+<r>, k \in \mathbb{Z}",
        {
            "another letter": r"n=<a>m+<r>, m \in \mathbb{Z}",
            "reordered": r"n=<r>+<a>k, k \in \mathbb{Z}",
            "spaces": r"n = <a> k + <r>,\ k \in \mathbb Z",
            "in words": r"n=<a>k+<r>, \text{ where } k \text{ is an integer}",
        },
        {
            "another residue": r"n=<a>k, k \in \mathbb{Z}",
            "another modulus": r"n=<c>k+<r>, k \in \mathbb{Z}",
            "one of them": "n=<r>",
            "natural numbers only": r"n=<a>k+<r>, k \in \mathbb{N}",
        },
        a=a + 1, c=a + 2, r=1 + b % a,
    )  # fmt: skip


@form(4)
def a_pair_of_families(rng: Random) -> Problem:
    a, b, c = rng.sample(range(2, 12), 3)
    return problem(
        r"(x,y)=(<a>t+<c>,<b>t-1), t \in \mathbb{Z}",
        {
            "reordered": r"(x,y)=(<c>+<a>t,-1+<b>t), t \in \mathbb{Z}",
            "another letter": r"(x,y)=(<a>s+<c>,<b>s-1), s \in \mathbb{Z}",
            "without the names": r"(<a>t+<c>,<b>t-1), t \in \mathbb{Z}",
        },
        {
            "a sign": r"(x,y)=(<a>t+<c>,<b>t+1), t \in \mathbb{Z}",
            "exchanged": r"(x,y)=(<b>t-1,<a>t+<c>), t \in \mathbb{Z}",
            "one of them": "(x,y)=(<c>,-1)",
            "real numbers": r"(x,y)=(<a>t+<c>,<b>t-1), t \in \mathbb{R}",
        },
        a=a, b=b, c=c,
    )  # fmt: skip


@form(5)
def functions_that_solve_an_equation(rng: Random) -> Problem:
    a = rng.randrange(2, 12)
    return problem(
        "f(x)=0 \\text{ and } f(x)=<a>x",
        {
            "exchanged": "f(x)=<a>x \\text{ and } f(x)=0",
            "a list": "f(x)=0, f(x)=<a>x",
            "or": r"f(x)=0 \text{ or } f(x)=<a>x",
        },
        {
            "one dropped": "f(x)=0",
            "the other dropped": "f(x)=<a>x",
            "one changed": r"f(x)=0 \text{ and } f(x)=-<a>x",
            "one more": r"f(x)=0 \text{ and } f(x)=<a>x \text{ and } f(x)=x",
            "a constant": "f(x)=0, f(x)=<a>",
        },
        a=a,
    )  # fmt: skip
