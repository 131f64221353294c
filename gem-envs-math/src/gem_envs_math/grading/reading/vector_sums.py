r"""Read vectors that are added and multiplied: `(1,3,0)+t(2,-1,4)`, `c_1e^t\begin{pmatrix}...`.

Knows nothing about names: `(x,y,z) =` before it is read elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.reading.scalars import read_scalar
from gem_envs_math.grading.reading.shapes import Group, Matrix, Scalar
from gem_envs_math.grading.text.splitting import levels, split
from gem_envs_math.grading.text.tokens import Token

__all__ = ["read_vector_sum"]

Tokens = Sequence[Token]

_LETTERS = frozenset("tskrabcmne")
"""Letters that multiply a tuple in round brackets: others may be functions of it, `u(x,t)`."""

_COMMANDS = frozenset(("\\lambda", "\\mu", "\\alpha", "\\beta", "\\frac", "\\sqrt", "\\pi"))
_COLUMNS = frozenset(("pmatrix", "bmatrix", "matrix"))
_MOST_TERMS = 6
_MOST_CELLS = 12
_LONGEST_FACTOR = 20  # tokens, each of which is written into every cell
_SIGNS = ("+", "-")
_OPEN = Token("sign", "(")
_CLOSE = Token("sign", ")")
_TIMES = Token("sign", "*")


class _Term(NamedTuple):
    """A vector with its sign and what it is multiplied by."""

    sign: Token
    factor: Tokens
    cells: list[Tokens]
    is_column: bool


def read_vector_sum(tokens: Tokens) -> Group | Matrix | None:
    r"""Return the vector that a sum of multiples is, by its components; None for another answer.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> [item.value for item in read_vector_sum(tokenize("(1,3)+2(2,-1)")).items]
    [5, 1]
    """
    texts = {token.text for token in tokens}
    if "\\begin" not in texts and ("," not in texts or texts.isdisjoint(("(", "<<"))):
        return None
    parts = _parts(tokens)
    if len(parts) > _MOST_TERMS:
        return None
    terms = [_term(part) for part in parts]
    readable = [term for term in terms if term is not None]
    is_one = len(readable) == 1 and (not readable[0].factor or readable[0].is_column)
    if len(readable) < len(terms) or is_one or len({len(term.cells) for term in readable}) > 1:
        return None
    cells = tuple(_cell(readable, at) for at in range(len(readable[0].cells)))
    if any(cell.unit is not None for cell in cells):
        raise Unread("a vector with a unit")
    is_column = any(term.is_column for term in readable)
    return Matrix(tuple((cell,) for cell in cells)) if is_column else Group("(", ")", cells)


def _parts(tokens: Tokens) -> list[Tokens]:
    """Return the terms of a sum, each with its sign."""
    depths = levels(tokens)
    starts = [
        at
        for at, token in enumerate(tokens)
        if at and not depths[at] and token.text in _SIGNS and tokens[at - 1].text not in ("*", "^")
    ]
    return [tokens[i:j] for i, j in zip([0, *starts], [*starts, len(tokens)], strict=True)]


def _term(tokens: Tokens) -> _Term | None:
    sign = Token("sign", "+")
    if tokens and tokens[0].text in _SIGNS:
        sign = tokens[0]
        tokens = tokens[1:]
    depths = levels(tokens)
    for at, token in enumerate(tokens):
        if depths[at] or token.text not in ("(", "<<", "\\begin"):
            continue
        end = _end(tokens, depths, at)
        cells = _column(tokens[at:end]) if token.text == "\\begin" else _row(tokens[at:end])
        if not cells:
            continue
        before = tokens[:at]
        after = tokens[end:]
        if (before and after and token.text != "\\begin") or len(cells) > _MOST_CELLS:
            return None
        if before and after:
            before = [_OPEN, *before, _CLOSE, _TIMES, _OPEN, *after, _CLOSE]
            after = ()
        factor = before or after
        if factor and factor[-1 if before else 0].text == "*":
            factor = factor[:-1] if before else factor[1:]
        if len(factor) > _LONGEST_FACTOR or any(token.kind == "word" for token in factor):
            return None
        if token.text == "(" and factor and not _multiplies(factor, cells):
            return None
        return _Term(sign, factor, cells, token.text == "\\begin")
    return None


def _end(tokens: Tokens, depths: list[int], at: int) -> int:
    """Return the index after the bracket or the environment that opens at an index."""
    end = next((k for k in range(at + 1, len(tokens)) if not depths[k]), len(tokens) - 1)
    if tokens[at].text != "\\begin":
        return end + 1
    closing = (k for k in range(end, len(tokens)) if tokens[k].text == "}")
    return next(closing, len(tokens) - 1) + 1


def _row(tokens: Tokens) -> list[Tokens]:
    cells = split(tokens[1:-1], (",",))
    return cells if len(cells) > 1 and all(cells) else []


def _column(tokens: Tokens) -> list[Tokens]:
    texts = [token.text for token in tokens]
    if "}" not in texts or "\\end" not in texts or "&" in texts:
        return []
    start = texts.index("}")
    if "".join(texts[2:start]) not in _COLUMNS:
        return []
    cells = [cell for cell in split(tokens[start + 1 : texts.index("\\end")], ("\\\\",)) if cell]
    return cells if len(cells) > 1 else []


def _multiplies(factor: Tokens, cells: list[Tokens]) -> bool:
    """Whether what stands beside a tuple is a factor, and no function of what it holds."""
    has_number = any(token.kind == "number" for cell in cells for token in cell)
    return has_number and all(
        set(token.text) <= _LETTERS
        if token.kind == "letters"
        else token.kind != "command" or token.text in _COMMANDS
        for token in factor
    )


def _cell(terms: Sequence[_Term], at: int) -> Scalar:
    tokens: list[Token] = []
    for term in terms:
        tokens.append(term.sign)
        if term.factor:
            tokens.extend([_OPEN, *term.factor, _CLOSE, _TIMES])
        tokens.extend([_OPEN, *term.cells[at], _CLOSE])
    return read_scalar(tokens)
