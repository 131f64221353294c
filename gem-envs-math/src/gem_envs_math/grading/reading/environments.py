r"""Read what stands between `\begin` and `\end`: a matrix, or the rows of a system.

Knows nothing about what a row of a system says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gem_envs_math.grading.limits import ITEMS, TooDeep, Unread
from gem_envs_math.grading.reading.scalars import read_scalar
from gem_envs_math.grading.reading.shapes import Matrix, Shape
from gem_envs_math.grading.reading.wording import trimmed
from gem_envs_math.grading.text.splitting import levels, split
from gem_envs_math.grading.text.tokens import Token

__all__ = ["RELATIONS", "System", "diagonal", "is_aligned", "is_piece", "read_environment"]

Tokens = Sequence[Token]

RELATIONS = frozenset(("=", "<", ">", "<=", ">=", "!=", "\\in", "\\approx"))
"""The signs between the sides of what an equation, an inequality or a membership says."""

_MATRICES = ("pmatrix", "bmatrix", "matrix", "Bmatrix", "array")
_SYSTEMS = ("cases", "dcases", "aligned", "align", "gathered", "split")
_LONGEST_FACTOR = 20  # tokens before a matrix, each of whose cells they are written into
_OPEN = Token("sign", "(")
_CLOSE = Token("sign", ")")
_TIMES = Token("sign", "*")
_MINUS_ONE = (Token("sign", "-"), Token("number", "1"))


class System(NamedTuple):
    """The rows of `cases`, `aligned` and their kin."""

    rows: Sequence[Tokens]


def read_environment(tokens: Tokens) -> Matrix | System:
    r"""Return a matrix, also one with a number before it, or the rows of a system.

    Raises Unread for what is neither.
    """
    texts = [token.text for token in tokens]
    begin = texts.index("\\begin")
    factor = tokens[:begin]
    tokens = tokens[begin:]
    texts = texts[begin:]
    name = "".join(texts[2 : texts.index("}")]) if "}" in texts else ""
    is_matrix = name.rstrip("*") in _MATRICES
    is_system = name.rstrip("*") in _SYSTEMS
    if not (is_matrix or is_system) or texts.count("\\begin") > 1 or "\\end" not in texts:
        raise Unread("an environment that is not known")
    end = texts.index("\\end")
    start = texts.index("}") + 1
    if name == "array" and "}" in texts[start:]:
        start = texts.index("}", start) + 1  # past the columns' alignment
    closing = ["{", *texts[2 : texts.index("}")], "}"]
    if texts[end + 1 :] not in (closing, [*closing, "^", "T"], [*closing, "^", "{", "T", "}"]):
        raise Unread("an environment without its end")
    rows = [row for row in split(tokens[start:end], ("\\\\",)) if row]
    if len(rows) > ITEMS:
        raise TooDeep(f"more than {ITEMS} rows")
    if is_system or (name == "array" and _is_system(rows)):
        if factor:
            raise Unread("a number before a system")
        return System(rows)
    before = _factor(factor)
    matrix = Matrix(tuple(_row(row, before) for row in rows))
    return matrix if texts[end + 1 :] == closing else _transposed(matrix)


def is_aligned(row: Sequence[Tokens]) -> bool:
    """Whether an ampersand only lines up the signs of equations: `x &= 1`."""
    return not row[0] or not row[1] or row[1][0].text in RELATIONS or row[0][-1].text in RELATIONS


def is_piece(row: Tokens) -> bool:
    """Whether a row is a value, a comma, and the condition of the value: `2n, n >= 2`."""
    parts = split(trimmed(row), (",", "&"))
    has_relation = [any(token.text in RELATIONS for token in part) for part in parts]
    return has_relation == [False, True] and all(token.text != "&" for token in row)


def _is_system(rows: Sequence[Tokens]) -> bool:
    return all(any(token.text in RELATIONS for token in row) for row in rows)


def _factor(tokens: Tokens) -> Tokens:
    r"""Return what every cell is multiplied by: `\frac12`, `-`; [] where nothing stands there."""
    if not tokens:
        return []
    if tokens[-1].text == "*":
        tokens = tokens[:-1]
    if len(tokens) > _LONGEST_FACTOR or any(token.kind == "word" for token in tokens):
        raise Unread("more than a number before a matrix")
    if [token.text for token in tokens] == ["-"]:
        tokens = _MINUS_ONE
    # A sum before a matrix is a matrix that is added; a unit is none of a matrix.
    texts = [token.text for token, depth in zip(tokens, levels(tokens), strict=True) if not depth]
    if not {"+", "-"}.isdisjoint(texts[1:]) or read_scalar(tokens).unit is not None:
        raise Unread("a sum with a matrix in it")
    return [_OPEN, *tokens, _CLOSE, _TIMES]


def _row(tokens: Tokens, factor: Tokens) -> tuple[Shape, ...]:
    cells = split(tokens, ("&",))
    if len(cells) > ITEMS:
        raise TooDeep(f"more than {ITEMS} columns")
    if not factor:
        return tuple(read_scalar(cell) for cell in cells)
    if any(not cell for cell in cells):
        raise Unread("an empty cell")
    return tuple(read_scalar([*factor, _OPEN, *cell, _CLOSE]) for cell in cells)


def diagonal(cells: Sequence[Shape]) -> Matrix:
    """Return the matrix that has these on its diagonal, and zeros elsewhere."""
    zero = read_scalar([Token("number", "0")])
    size = range(len(cells))
    return Matrix(tuple(tuple(cells[i] if i == k else zero for k in size) for i in size))


def _transposed(matrix: Matrix) -> Matrix:
    if len({len(row) for row in matrix.rows}) != 1:
        raise Unread("rows of different lengths")
    return Matrix(tuple(zip(*matrix.rows, strict=True)))
