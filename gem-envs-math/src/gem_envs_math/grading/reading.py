r"""Read an answer's tokens as one of the shapes: from the outermost structure inwards.

Knows nothing about the answer that it will be compared with.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import pairwise

from gem_envs_math.grading.field import Field
from gem_envs_math.grading.grammar import compute
from gem_envs_math.grading.limits import ITEMS, TooDeep, TooLarge, Undefined, Unread
from gem_envs_math.grading.naming import name_of
from gem_envs_math.grading.numeric import At
from gem_envs_math.grading.shapes import (
    Based,
    Choice,
    Group,
    Matrix,
    Named,
    Ratio,
    Relation,
    Scalar,
    Shape,
    Unions,
    Words,
)
from gem_envs_math.grading.tokens import CLOSERS, OPENERS, Token
from gem_envs_math.grading.units import split_unit
from gem_envs_math.grading.wording import REALS, read_clock, read_words, trimmed

__all__ = ["read", "read_scalar"]

Tokens = Sequence[Token]

_COMMAS = frozenset((",", ";", "and", "or", "\\lor"))
_UNIONS = frozenset(("\\cup", "U"))
_RELATIONS = frozenset(("=", "<", ">", "<=", ">=", "!=", "\\in", "\\approx"))
_OPENING = OPENERS | {"\\begin"}
_CLOSING = CLOSERS | {"\\end"}
_MATRICES = ("pmatrix", "bmatrix", "matrix", "Bmatrix", "array")
_LETTERS = frozenset("ABCDEFGHIJ")
_MINUS, _INFINITY = Token("sign", "-"), Token("command", "\\infty")
_SETS = {"Z": "integers", "N": "natural numbers", "Q": "rational numbers", "C": "complex numbers"}
_SIGNED = {"^+": "positive", "_+": "positive", "_>0": "positive", "^-": "negative"}


def read(tokens: Tokens) -> Shape:
    r"""Return what an answer is. Raises Unread and its kin where it is nothing known.

    >>> from gem_envs_math.grading.tokens import tokenize
    >>> type(read(tokenize(r"x \in (0, 1] \cup \{2\}"))).__name__
    'Named'
    """
    tokens = trimmed(tokens)
    words = read_words(tokens) if tokens else None
    if words is not None:
        return _reals() if words.text == REALS else words
    try:
        return _structure(tokens)
    except (TooDeep, TooLarge, Undefined):
        raise
    except Unread:
        words = read_words(tokens, is_last=True)
        if words is None:
            raise
        return _reals() if words.text == REALS else words


def read_scalar(tokens: Tokens) -> Scalar:
    """Return the value of an expression with or without a unit."""
    number, unit, scale = split_unit(tokens)
    field = Field()
    value = compute(number, field)
    return Scalar(value, field.is_opaque, unit, scale, number)


def _structure(tokens: Tokens) -> Shape:
    if not tokens:
        raise Unread("nothing is there")
    clock = read_clock(tokens)
    if clock is not None:
        return clock
    texts = {token.text for token in tokens}
    for signs, reader in _READERS:
        if not texts.isdisjoint(signs):
            parts = _split(tokens, signs)
            shape = reader(parts, tokens) if len(parts) > 1 else None
            if shape is not None:
                return shape
    return _choice(tokens) or _bracketed(tokens) or _single(tokens)


def _choice(tokens: Tokens) -> Choice | None:
    """Read `(E) 42`, as long as its letter stands in text: else it is a product."""
    is_marked = len(tokens) > 3 and tokens[0].text == "(" and tokens[2].text == ")"
    if not is_marked or tokens[1].kind != "word" or tokens[1].text not in _LETTERS:
        return None
    return Choice(tokens[1].text.casefold(), read(tokens[3:]))


def _list(parts: list[Tokens], tokens: Tokens) -> Shape:
    items = [part for part in parts if part]
    if not items:
        raise Unread("a list without items")
    shapes = _items(items)
    left_out = _left_out(shapes)
    if left_out is not None:
        return left_out
    has_or = any(token.text in ("or", "\\lor") for token in tokens)
    if has_or and all(isinstance(shape, Relation) for shape in shapes):
        return Unions(shapes)
    return Group("", "", shapes)


def _left_out(shapes: Sequence[Shape]) -> Named | None:
    r"""Read `x \ne 1, x \ne 2` and `x \ne 1, 2` as the points that a symbol is not."""
    symbols = {_excluded_symbol(shape) for shape in shapes if isinstance(shape, Relation)}
    symbol = symbols.pop() if len(symbols) == 1 else None
    if symbol is None or not isinstance(shapes[0], Relation):
        return None
    points = [
        read_scalar(shape.sides[1]) if isinstance(shape, Relation) else shape for shape in shapes
    ]
    name = Token("letters", symbol)
    return Named(symbol, (_without(points),), [name, Token("command", "\\in")])


def _excluded_symbol(a: Relation) -> str | None:
    if a.signs != ("!=",) or len(a.sides[0]) != 1:
        return None
    return a.sides[0][0].text


def _union(parts: list[Tokens], tokens: Tokens) -> Unions | None:
    if not all(part and part[0].text in OPENERS for part in parts):
        return None  # U is a symbol
    return Unions(tuple(_structure(part) for part in parts))


def _items(items: list[Tokens]) -> tuple[Shape, ...]:
    if len(items) > ITEMS:
        raise TooDeep(f"more than {ITEMS} items")
    shapes: list[Shape] = []
    for item in items:
        shape = _structure(trimmed(item))
        is_bare = isinstance(shape, Group) and not shape.opener
        shapes.extend(shape.items if isinstance(shape, Group) and is_bare else [shape])
    return tuple(shapes)


def _relation(sides: list[Tokens], tokens: Tokens) -> Shape:
    levels = zip(tokens, _levels(tokens), strict=True)
    signs = [token.text for token, depth in levels if not depth and token.text in _RELATIONS]
    if not sides[0] and signs[0] in ("=", "\\approx"):
        return _structure(tokens[1:])  # `= 5` ends a chain that began before
    if "\\approx" in signs:
        return _about(tokens, signs)
    if not all(sides):
        raise Unread("a side of a relation is empty")
    if set(signs) <= {"="} or signs == ["\\in"]:
        name = name_of(sides[0])
        if name:
            return Named(name, tuple(_structure(side) for side in sides[1:]), tokens)
    if "\\in" in signs:
        raise Unread("a relation of a kind that is not known")
    return Relation(tuple(sides), tuple(signs))


def _about(tokens: Tokens, signs: list[str]) -> Shape:
    r"""Read what stands before the sign of about equal; after it, where before it is a name."""
    at = next(index for index, token in enumerate(tokens) if token.text == "\\approx")
    exact, close = tokens[:at], tokens[at + 1 :]
    if signs[0] == "\\approx" and name_of(exact) and close:
        return _structure(close)
    return _structure(exact)


def _bracketed(tokens: Tokens) -> Shape | None:
    opener, closer = tokens[0].text, tokens[-1].text
    if opener not in OPENERS or closer not in CLOSERS or not _encloses(tokens):
        return None
    if opener == "{":
        return _inner(tokens)  # braces without a backslash are not seen
    items = _split(tokens[1:-1], (",", ";"))
    if len(items) > 1:
        return Group(opener, closer, _items([item for item in items if item]))
    if opener == "\\{" and closer == "\\}":
        if len(items[0]) > 3 and items[0][1].text in ("|", ":"):
            return _structure(items[0][2:])  # the set of all x with ...
        return Group(opener, closer, _items(items) if items[0] else ())
    if opener == "(" and items[0]:
        return _inner(tokens)
    return None


def _inner(tokens: Tokens) -> Shape:
    """Read what stands in round brackets: one more look for structure, else a product."""
    try:
        return _single(tokens)
    except (TooDeep, TooLarge, Undefined):
        raise
    except Unread:
        return _structure(trimmed(tokens[1:-1]))


def _encloses(tokens: Tokens) -> bool:
    depths = _levels(tokens)
    return depths[0] == 0 and depths[-1] == 0 and 0 not in depths[1:-1]


def _single(tokens: Tokens) -> Shape:
    texts = [token.text for token in tokens]
    if texts[0] == "\\begin":
        return _matrix(tokens)
    if texts in (["\\emptyset"], ["\\{", "\\}"]):
        return Group("\\{", "\\}", ())
    if texts[0] == "\\mathbb" and texts[4:6] == ["-", "\\{"]:
        return _complement([tokens[:4], tokens[5:]], tokens)
    if texts[0] == "\\mathbb":
        return _numbers(texts)
    if "\\pm" in texts or "\\mp" in texts:
        return _plus_minus(tokens)
    based = _based(texts, tokens)
    if based is not None:
        return based
    if ":" in texts:
        return Ratio(tuple(read_scalar(part) for part in _split(tokens, (":",))))
    return read_scalar(tokens)


def _numbers(texts: list[str]) -> Shape:
    r"""Read `\mathbb{Z}`, `\mathbb{R}^+`: the set of numbers that a letter stands for."""
    letter = "".join(texts[1:4]).strip("{}")
    mark = "".join(texts[4:]).replace("{", "").replace("}", "")
    sign = _SIGNED.get(mark, "")
    if mark and not sign:
        raise Unread("a set that is not known")
    if letter == "R":
        return _reals(sign)
    if letter not in _SETS:
        raise Unread("a set that is not known")
    return Words(f"{sign} {_SETS[letter]}".strip(), is_plain=False)


def _reals(sign: str = "") -> Group:
    """Return all real numbers, or those of a sign, as an interval."""
    low = [Token("number", "0")] if sign == "positive" else [_MINUS, _INFINITY]
    high = [Token("number", "0")] if sign == "negative" else [_INFINITY]
    return Group("(", ")", (read_scalar(low), read_scalar(high)))


def _complement(parts: list[Tokens], tokens: Tokens) -> Unions:
    r"""Read `\mathbb{R} \setminus \{0\}`: the intervals between the points that are left out."""
    if any(not part for part in parts) or _structure(parts[0]) != _reals():
        raise Unread("points left out of what is not all real numbers")
    points: list[Shape] = []
    for part in parts[1:]:
        shape = _structure(part)
        points.extend(
            shape.items if isinstance(shape, Group) and shape.opener == "\\{" else [shape]
        )
    return _without(points)


def _without(points: Sequence[Shape]) -> Unions:
    """Return all real numbers but some points, as intervals."""
    distinct: list[Scalar] = []
    for point in points:
        if not isinstance(point, Scalar):
            raise Unread("what is left out is no number")
        if all(point.value != other.value for other in distinct):
            distinct.append(point)
    distinct.sort(key=_place)
    low, high = _reals().items
    ends = [low, *distinct, high]
    return Unions(tuple(Group("(", ")", pair) for pair in pairwise(ends)))


def _place(point: Scalar) -> float:
    """Return about where a point lies: enough to put points in order."""
    try:
        return float(compute(point.tokens, At(0)).number.real)
    except (ArithmeticError, ValueError) as error:
        raise Unread("a point without a place") from error


def _matrix(tokens: Tokens) -> Matrix:
    texts = [token.text for token in tokens]
    name = "".join(texts[2 : texts.index("}")]) if "}" in texts else ""
    if name.rstrip("*") not in _MATRICES or texts.count("\\begin") > 1 or "\\end" not in texts:
        raise Unread("an environment that is no matrix")
    end = texts.index("\\end")
    start = texts.index("}") + 1
    if name == "array" and "}" in texts[start:]:
        start = texts.index("}", start) + 1  # past the columns' alignment
    if texts[end + 1 :] != ["{", *texts[2 : texts.index("}")], "}"]:
        raise Unread("a matrix without its end")
    rows = _split(tokens[start:end], ("\\\\",))
    if len(rows) > ITEMS:
        raise TooDeep(f"more than {ITEMS} rows")
    return Matrix(tuple(_row(row) for row in rows if row))


def _row(tokens: Tokens) -> tuple[Shape, ...]:
    cells = _split(tokens, ("&",))
    if len(cells) > ITEMS:
        raise TooDeep(f"more than {ITEMS} columns")
    return tuple(read_scalar(cell) for cell in cells)


def _plus_minus(tokens: Tokens) -> Group:
    upper = {"\\pm": "+", "\\mp": "-"}
    lower = {"\\pm": "-", "\\mp": "+"}
    both = (
        [
            Token("sign", signs.get(token.text, token.text)) if token.text in signs else token
            for token in tokens
        ]
        for signs in (upper, lower)
    )
    return Group("", "", tuple(read_scalar(side) for side in both))


def _based(texts: list[str], tokens: Tokens) -> Based | None:
    if "_" not in texts:
        return None
    at = texts.index("_")
    base = "".join(texts[at + 1 :]).strip("{}")
    digits = "".join(texts[:at]).lstrip("-")
    kinds = {token.kind for token in tokens[:at] if token.text != "-"}
    if not base.isdecimal() or not digits[:1].isdecimal() or not kinds <= {"number", "letters"}:
        return None
    if not 2 <= int(base[:4]) <= 36 or len(base) > 2:
        return None
    try:
        int(digits.replace(".", "", 1), int(base))
    except ValueError:
        return None
    return Based(digits.upper(), int(base), texts[0] == "-")


def _levels(tokens: Tokens) -> list[int]:
    """Return the number of brackets around each token (a bracket counts as outside itself)."""
    levels, depth = [], 0
    for token in tokens:
        text = token.text
        if text in _CLOSING:
            depth -= 1
        levels.append(depth)
        if text in _OPENING:
            depth += 1
    return levels


def _split(tokens: Tokens, signs: Container[str]) -> list[Tokens]:
    """Split tokens at signs, where no bracket is open."""
    parts: list[Tokens] = []
    start = 0
    for index, depth in enumerate(_levels(tokens)):
        if not depth and tokens[index].text in signs:
            parts.append(tokens[start:index])
            start = index + 1
    return [*parts, tokens[start:]]


_READERS = (
    (_COMMAS, _list),
    (_RELATIONS, _relation),
    (_UNIONS, _union),
    (frozenset(("\\setminus",)), _complement),
)
"""What parts an answer, from the outside inwards, and what reads the parts."""
