"""Points, vectors, matrices, and solutions of systems."""

from __future__ import annotations

from random import Random

from ..problem import Problem, form, problem


@form(6)
def a_point(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 20), 2)
    return problem(
        r"\left(-<a>,\frac{<b>}{21}\right)",
        {
            "plain brackets": r"(-<a>, \frac{<b>}{21})",
            "named": r"(x,y)=\left(-<a>,\frac{<b>}{21}\right)",
            "a point's name": r"P\left(-<a>,\frac{<b>}{21}\right)",
            "named coordinates": r"x=-<a>, y=\frac{<b>}{21}",
            "named coordinates, exchanged": r"y=\frac{<b>}{21}, x=-<a>",
            "inline": "(-<a>,<b>/21)",
        },
        {
            "exchanged": r"\left(\frac{<b>}{21},-<a>\right)",
            "a sign": r"\left(<a>,\frac{<b>}{21}\right)",
            "one dropped": "-<a>",
            "one added": r"\left(-<a>,\frac{<b>}{21},0\right)",
            "names exchanged": r"y=-<a>, x=\frac{<b>}{21}",
            "turned names": r"(y,x)=\left(-<a>,\frac{<b>}{21}\right)",
            "another value": r"\left(-<a>,\frac{<c>}{21}\right)",
        },
        a=a, b=b, c=b + 1,
    )  # fmt: skip


@form(6)
def a_vector_in_components(rng: Random) -> Problem:
    a, b, c = rng.sample(range(2, 20), 3)
    return problem(
        r"<a>\mathbf{i}-<b>\mathbf{j}+<c>\mathbf{k}",
        {
            "reordered": r"-<b>\mathbf{j}+<c>\mathbf{k}+<a>\mathbf{i}",
            "hats": r"<a>\hat{i}-<b>\hat{j}+<c>\hat{k}",
            "arrows": r"<a>\vec{i}-<b>\vec{j}+<c>\vec{k}",
            "hats of bold": r"<a>\hat{\mathbf{i}}-<b>\hat{\mathbf{j}}+<c>\hat{\mathbf{k}}",
            "a tuple": "(<a>,-<b>,<c>)",
            "angles": r"\langle <a>,-<b>,<c> \rangle",
        },
        {
            "a sign": r"<a>\mathbf{i}+<b>\mathbf{j}+<c>\mathbf{k}",
            "units exchanged": r"<a>\mathbf{j}-<b>\mathbf{i}+<c>\mathbf{k}",
            "one dropped": r"<a>\mathbf{i}-<b>\mathbf{j}",
            "doubled": r"<a2>\mathbf{i}-<b2>\mathbf{j}+<c2>\mathbf{k}",
            "a tuple exchanged": "(<a>,<c>,-<b>)",
            "hats, a sign": r"<a>\hat{i}-<b>\hat{j}-<c>\hat{k}",
        },
        a=a, b=b, c=c, a2=2 * a, b2=2 * b, c2=2 * c,
    )  # fmt: skip


@form(5)
def a_column(rng: Random) -> Problem:
    a, b, c = rng.sample(range(2, 20), 3)
    return problem(
        r"\begin{pmatrix} <a> \\ -<b> \\ <c> \end{pmatrix}",
        {
            "brackets": r"\begin{bmatrix} <a> \\ -<b> \\ <c> \end{bmatrix}",
            "an array": r"\left(\begin{array}{c} <a> \\ -<b> \\ <c> \end{array}\right)",
            "a tuple": "(<a>,-<b>,<c>)",
            "no spaces": r"\begin{pmatrix}<a>\\-<b>\\<c>\end{pmatrix}",
            "a row transposed": r"\begin{pmatrix} <a> & -<b> & <c> \end{pmatrix}^T",
        },
        {
            "exchanged": r"\begin{pmatrix} -<b> \\ <a> \\ <c> \end{pmatrix}",
            "a row": r"\begin{pmatrix} <a> & -<b> & <c> \end{pmatrix}",
            "a sign": r"\begin{pmatrix} <a> \\ <b> \\ <c> \end{pmatrix}",
            "one dropped": r"\begin{pmatrix} <a> \\ -<b> \end{pmatrix}",
            "a tuple, a sign": "(<a>,<b>,<c>)",
        },
        a=a, b=b, c=c,
    )  # fmt: skip


@form(6)
def a_matrix(rng: Random) -> Problem:
    a, b, c, d = rng.sample(range(2, 20), 4)
    return problem(
        r"\begin{pmatrix} <a> & -<b> \\ <c> & <d> \end{pmatrix}",
        {
            "brackets": r"\begin{bmatrix} <a> & -<b> \\ <c> & <d> \end{bmatrix}",
            "an array": r"\left[\begin{array}{cc} <a> & -<b> \\ <c> & <d> \end{array}\right]",
            "left and right": r"\left(\begin{matrix} <a> & -<b> \\ <c> & <d> \end{matrix}\right)",
            "named": r"A=\begin{pmatrix} <a> & -<b> \\ <c> & <d> \end{pmatrix}",
            "an inverse named": r"A^{-1}=\begin{pmatrix} <a> & -<b> \\ <c> & <d> \end{pmatrix}",
            "a factor": r"\frac{1}{2}\begin{pmatrix} <a2> & -<b2> \\ <c2> & <d2> \end{pmatrix}",
        },
        {
            "transposed": r"\begin{pmatrix} <a> & <c> \\ -<b> & <d> \end{pmatrix}",
            "a sign": r"\begin{pmatrix} <a> & <b> \\ <c> & <d> \end{pmatrix}",
            "rows exchanged": r"\begin{pmatrix} <c> & <d> \\ <a> & -<b> \end{pmatrix}",
            "doubled": r"2\begin{pmatrix} <a> & -<b> \\ <c> & <d> \end{pmatrix}",
            "its determinant": r"\begin{vmatrix} <a> & -<b> \\ <c> & <d> \end{vmatrix}",
            "a row dropped": r"\begin{pmatrix} <a> & -<b> \end{pmatrix}",
            "its entries": "(<a>,-<b>,<c>,<d>)",
        },
        a=a, b=b, c=c, d=d, a2=2 * a, b2=2 * b, c2=2 * c, d2=2 * d,
    )  # fmt: skip


@form(6)
def a_solution_of_a_system(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 20), 2)
    return problem(
        r"\begin{cases} x=<a> \\ y=-<b> \end{cases}",
        {
            "a list": "x=<a>, y=-<b>",
            "a list, exchanged": "y=-<b>, x=<a>",
            "a pair": "(<a>,-<b>)",
            "a named pair": "(x,y)=(<a>,-<b>)",
            "exchanged": r"\begin{cases} y=-<b> \\ x=<a> \end{cases}",
            "an array": r"\left\{\begin{array}{l} x=<a> \\ y=-<b> \end{array}\right.",
            "and": r"x=<a> \text{ and } y=-<b>",
            "no spaces": r"\begin{cases}x=<a>\\y=-<b>\end{cases}",
        },
        {
            "names exchanged": r"\begin{cases} y=<a> \\ x=-<b> \end{cases}",
            "a pair exchanged": "(-<b>,<a>)",
            "a sign": r"\begin{cases} x=<a> \\ y=<b> \end{cases}",
            "one dropped": "x=<a>",
            "a list, a sign": "x=<a>, y=<b>",
            "a list, names exchanged": "y=<a>, x=-<b>",
            "another value": r"\begin{cases} x=<a> \\ y=-<c> \end{cases}",
        },
        a=a, b=b, c=b + 1,
    )  # fmt: skip


@form(5)
def values_of_two_names(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 40), 2)
    return problem(
        "a=<a>, b=<b>",
        {
            "exchanged": "b=<b>, a=<a>",
            "and": r"a=<a> \text{ and } b=<b>",
            "a pair": "(a,b)=(<a>,<b>)",
            "semicolon": "a=<a>; b=<b>",
            "quad": r"a=<a>,\quad b=<b>",
        },
        {
            "names exchanged": "b=<a>, a=<b>",
            "one dropped": "a=<a>",
            "values exchanged": "a=<b>, b=<a>",
            "other names": "c=<a>, d=<b>",
            "a sign": "a=<a>, b=-<b>",
            "the pair exchanged": "(a,b)=(<b>,<a>)",
        },
        a=a, b=b,
    )  # fmt: skip


@form(5)
def a_function_in_pieces(rng: Random) -> Problem:
    a, b = rng.sample(range(2, 20), 2)
    return problem(
        r"f(x)=\begin{cases} x+<a>, & x < 0 \\ <b>x^2, & x \ge 0 \end{cases}",
        {
            "the name left out": r"\begin{cases} x+<a>, & x < 0 \\ <b>x^2, & x \ge 0 \end{cases}",
            "exchanged": r"f(x)=\begin{cases} <b>x^2, & x \ge 0 \\ x+<a>, & x < 0 \end{cases}",
            "if": r"f(x)=\begin{cases} x+<a> & \text{if } x < 0 \\ <b>x^2 & \text{if } x \ge 0 "
            r"\end{cases}",
            "reordered": r"f(x)=\begin{cases} <a>+x, & x < 0 \\ <b>x^2, & x \geq 0 \end{cases}",
            "an array": r"f(x)=\left\{\begin{array}{ll} x+<a>, & x < 0 \\ <b>x^2, & x \ge 0 "
            r"\end{array}\right.",
        },
        {
            "pieces exchanged": r"f(x)=\begin{cases} <b>x^2, & x < 0 \\ x+<a>, & x \ge 0 "
            r"\end{cases}",
            "a sign": r"f(x)=\begin{cases} x-<a>, & x < 0 \\ <b>x^2, & x \ge 0 \end{cases}",
            "conditions exchanged": r"f(x)=\begin{cases} x+<a>, & x > 0 \\ <b>x^2, & x \le 0 "
            r"\end{cases}",
            "the end moved": r"f(x)=\begin{cases} x+<a>, & x \le 0 \\ <b>x^2, & x > 0 "
            r"\end{cases}",
            "one piece": "f(x)=x+<a>",
            "another bound": r"f(x)=\begin{cases} x+<a>, & x < 1 \\ <b>x^2, & x \ge 1 "
            r"\end{cases}",
        },
        a=a, b=b,
    )  # fmt: skip


@form(5)
def a_line_in_space(rng: Random) -> Problem:
    a, b, c = rng.sample(range(2, 12), 3)
    return problem(
        "x=<a>+t, y=<b>-2t, z=<c>t",
        {
            "reordered": "x=t+<a>, y=-2t+<b>, z=<c>t",
            "a tuple": "(x,y,z)=(<a>+t,<b>-2t,<c>t)",
            "the last first": "z=<c>t, x=<a>+t, y=<b>-2t",
        },
        {
            "a sign": "x=<a>-t, y=<b>-2t, z=<c>t",
            "names exchanged": "y=<a>+t, x=<b>-2t, z=<c>t",
            "one dropped": "x=<a>+t, y=<b>-2t",
            "another coefficient": "x=<a>+t, y=<b>-3t, z=<c>t",
        },
        a=a, b=b, c=c,
    )  # fmt: skip


@form(5)
def a_triple_with_a_root(rng: Random) -> Problem:
    a = rng.randrange(2, 12)
    b = rng.choice((2, 3, 5, 7, 11, 13))
    return problem(
        r"(<a>,\sqrt{<b>},-1)",
        {
            "left and right": r"\left(<a>,\sqrt{<b>},-1\right)",
            "angles": r"\langle <a>,\sqrt{<b>},-1 \rangle",
            "named": r"(a,b,c)=(<a>,\sqrt{<b>},-1)",
            "the root's power": "(<a>,<b>^{1/2},-1)",
            "big brackets": r"\bigl(<a>, \sqrt{<b>}, -1\bigr)",
        },
        {
            "exchanged": r"(\sqrt{<b>},<a>,-1)",
            "the root dropped": "(<a>,<b>,-1)",
            "a sign": r"(<a>,\sqrt{<b>},1)",
            "one dropped": r"(<a>,\sqrt{<b>})",
            "another radicand": r"(<a>,\sqrt{<c>},-1)",
        },
        a=a, b=b, c=b + 1,
    )  # fmt: skip
