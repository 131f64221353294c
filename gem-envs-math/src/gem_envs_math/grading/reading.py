r"""Read an answer's tokens as one of the shapes: from the outermost structure inwards.

Knows nothing about the answer that it will be compared with.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from gem_envs_math.grading.field import Field
from gem_envs_math.grading.grammar import compute
from gem_envs_math.grading.limits import ITEMS, TooDeep, TooLarge, Undefined, Unread
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
)
from gem_envs_math.grading.tokens import CLOSERS, OPENERS, Token
from gem_envs_math.grading.units import split_unit
from gem_envs_math.grading.wording import read_clock, read_words, trimmed

__all__ = ["read", "read_scalar"]

Tokens = Sequence[Token]

_COMMAS = frozenset((",", ";", "and", "or", "\\lor"))
_UNIONS = frozenset(("\\cup", "U"))
_RELATIONS = frozenset(("=", "<", ">", "<=", ">=", "!=", "\\in", "\\approx"))
_OPENING = OPENERS | {"\\begin"}
_CLOSING = CLOSERS | {"\\end"}
_MATRICES = ("pmatrix", "bmatrix", "matrix", "Bmatrix", "array")
_LETTERS = frozenset("ABCDEFGHIJ")
_REALS = ("\\mathbb", "{", "R", "}")


def read(tokens: Tokens) -> Shape:
    r"""Return what an answer is. Raises Unread and its kin where it is nothing known.

    >>> from gem_envs_math.grading.tokens import tokenize
    >>> type(read(tokenize(r"x \in (0, 1] \cup \{2\}"))).__name__
    'Named'
    """
    tokens = trimmed(tokens)
    words = read_words(tokens) if tokens else None
    if words is not None:
        return words
    try:
        return _structure(tokens)
    except (TooDeep, TooLarge, Undefined):
        raise
    except Unread:
        words = read_words(tokens, is_last=True)
        if words is None:
            raise
        return words


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
    for signs, reader in ((_COMMAS, _list), (_RELATIONS, _relation), (_UNIONS, _union)):
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
    has_or = any(token.text in ("or", "\\lor") for token in tokens)
    if has_or and all(isinstance(shape, Relation) for shape in shapes):
        return Unions(shapes)
    return Group("", "", shapes)


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
    signs = tuple(token.text for token, depth in levels if not depth and token.text in _RELATIONS)
    if signs[0] == "\\approx":
        return _structure(sides[0] or sides[1])
    if not all(sides):
        raise Unread("a side of a relation is empty")
    if set(signs) <= {"="} or signs == ("\\in",):
        name = _name(sides[0])
        if name:
            return Named(name, tuple(_structure(side) for side in sides[1:]), tokens)
    if "\\in" in signs or "\\approx" in signs:
        raise Unread("a relation of a kind that is not known")
    return Relation(tuple(sides), signs)


def _name(tokens: Tokens) -> str:
    """Return the name that an equation's left side is, "" where it is an expression."""
    texts = [token.text for token in tokens]
    if len(texts) > 2 and texts[0] == "(" and texts[-1] == ")":
        names = [_name(part) for part in _split(tokens[1:-1], (",",))]
        return ",".join(names) if all(names) else ""
    name = "".join(texts)
    is_words = all(token.kind == "word" for token in tokens)
    if is_words or (texts[0] in ("\\angle", "\\triangle") and len(texts) == 2):
        return name.removeprefix("\\angle").removeprefix("\\triangle")
    is_symbol = len(tokens[0].text) == 1 or tokens[0].kind in ("command", "word")
    if tokens[0].kind not in ("letters", "command", "word") or not is_symbol:
        is_long = name.isupper() or len(name) > 3
        return name if len(texts) == 1 and tokens[0].kind == "letters" and is_long else ""
    if name in ("e", "i", "\\pi") or texts[0] in ("\\frac", "\\sqrt"):
        return ""
    is_applied = texts[0] in "fghFGHPQVS" and texts[-1] == ")" and texts.count("(") == 1
    return name if len(texts) == 1 or texts[1] in ("_", "'") or is_applied else ""


def _bracketed(tokens: Tokens) -> Shape | None:
    opener, closer = tokens[0].text, tokens[-1].text
    if opener not in OPENERS or closer not in CLOSERS or not _encloses(tokens):
        return None
    items = _split(tokens[1:-1], (",", ";"))
    if len(items) > 1:
        return Group(opener, closer, _items([item for item in items if item]))
    if opener == "\\{" and closer == "\\}":
        if len(items[0]) > 3 and items[0][1].text in ("|", ":"):
            return _structure(items[0][2:])  # the set of all x with ...
        return Group(opener, closer, _items(items) if items[0] else ())
    if opener in ("(", "{") and items[0]:
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
    if tuple(texts) == _REALS:
        ends = [Token("sign", "-"), Token("command", "\\infty")]
        return Group("(", ")", (read_scalar(ends), read_scalar(ends[1:])))
    if "\\pm" in texts or "\\mp" in texts:
        return _plus_minus(tokens)
    based = _based(texts, tokens)
    if based is not None:
        return based
    if ":" in texts:
        return Ratio(tuple(read_scalar(part) for part in _split(tokens, (":",))))
    return read_scalar(tokens)


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
