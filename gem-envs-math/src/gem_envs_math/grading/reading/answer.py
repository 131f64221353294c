r"""Read an answer's tokens as one of the shapes: from the outermost structure inwards.

Knows nothing about the answer that it will be compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

from gem_envs_math.grading.limits import ITEMS, TooDeep, TooLarge, Undefined, Unread
from gem_envs_math.grading.reading.conditions import joined, without_bars
from gem_envs_math.grading.reading.described import read_described
from gem_envs_math.grading.reading.distributions import FOLLOWS, head_of
from gem_envs_math.grading.reading.environments import (
    RELATIONS,
    diagonal,
    is_aligned,
    is_piece,
    read_environment,
)
from gem_envs_math.grading.reading.headings import has_derivative, is_labelled, without_heading
from gem_envs_math.grading.reading.items import (
    all_named,
    are_of_several,
    is_letter_in_text,
    names_of,
)
from gem_envs_math.grading.reading.lettered import read_lettered
from gem_envs_math.grading.reading.naming import expression_name, name_of, unbraced
from gem_envs_math.grading.reading.notations import read_based, with_colons
from gem_envs_math.grading.reading.number_sets import (
    left_out,
    numbers,
    points_and_rays,
    reals,
    without,
    without_reals,
)
from gem_envs_math.grading.reading.permutations import before_permutations, permuted
from gem_envs_math.grading.reading.quantifiers import after_quantifier, held_by_all
from gem_envs_math.grading.reading.residues import MODULI, are_several, read_residue
from gem_envs_math.grading.reading.scalars import read_scalar
from gem_envs_math.grading.reading.series import DOTS, read_series, with_items_for_dots
from gem_envs_math.grading.reading.shapes import (
    Applied,
    Choice,
    Group,
    Matrix,
    Named,
    Pieces,
    Ratio,
    Relation,
    Scalar,
    Shape,
    Unions,
    Words,
)
from gem_envs_math.grading.reading.signs import both_signs, every_sign
from gem_envs_math.grading.reading.sums import read_parts
from gem_envs_math.grading.reading.vector_sums import read_vector_sum
from gem_envs_math.grading.reading.wording import (
    INFINITIES,
    REALS,
    read_clock,
    read_date,
    read_words,
    trimmed,
)
from gem_envs_math.grading.text.parameters import without_integers
from gem_envs_math.grading.text.splitting import encloses, levels, split
from gem_envs_math.grading.text.supports import without_support
from gem_envs_math.grading.text.tokens import CLOSERS, OPENERS, Token

__all__ = ["read", "read_scalar"]

Tokens = Sequence[Token]

_COMMAS = frozenset(
    (",", ";", "and", "or", "\\lor", "\\land", "\\\\", "for", "where", "if", "when")
)
_ANDS = frozenset(("and", "\\land"))
_ORS = frozenset(("or", "\\lor"))
_UNIONS = frozenset(("\\cup", "U"))
_EQUALS = Token("sign", "=")
_CONDITIONAL = frozenset(("if", "for", "when", "where"))


def read(tokens: Tokens) -> Shape:
    r"""Return what an answer is. Raises Unread and its kin where it is nothing known.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> type(read(tokenize(r"x \in (0, 1] \cup \{2\}"))).__name__
    'Named'
    """
    tokens = without_support(without_integers(unbraced(trimmed(tokens))))
    if is_labelled(tokens):
        tokens = tokens[2:]
    tokens = without_heading(tokens)
    while tokens and tokens[0].text in ("=", "\\approx"):
        tokens = tokens[1:]  # `= 5` ends a chain that began before
    words = read_words(tokens) if tokens else None
    if words is not None:
        return _meant(words)
    quantified = after_quantifier(tokens)
    if quantified is not None:
        held = held_by_all(_structure(quantified[0]), quantified[1])
        if held is not None:
            return held
    listed = before_permutations(tokens)
    if listed is not None:
        return permuted(_structure(listed[0]), is_cyclic=listed[1])
    try:
        return _structure(tokens)
    except (TooDeep, TooLarge, Undefined):
        raise
    except Unread:
        words = read_words(tokens, is_last=True)
        if words is None:
            raise
        return _meant(words)


def _meant(words: Words) -> Shape:
    """Return what words are a name of: all real numbers, infinity; else the words."""
    if words.text == REALS:
        return reals()
    if words.text in INFINITIES:
        return reals().items[INFINITIES.index(words.text)]
    return words


def _part(tokens: Tokens) -> Shape:
    """Read an item of a list or the value of a name: it may be words as well."""
    if any(token.kind == "word" and len(token.text) > 1 for token in tokens):
        words = read_words(tokens)
        if words is not None:
            return _meant(words)
    return _structure(tokens)


def _structure(tokens: Tokens) -> Shape:
    if not tokens:
        raise Unread("nothing is there")
    moment = read_clock(tokens) or read_date(tokens) or read_parts(tokens)
    if moment is not None:
        return moment
    texts = {token.text for token in tokens}
    if "to" in texts:
        tokens = with_colons(tokens)
        texts = {token.text for token in tokens}
    if "\\frac" in texts and "d" in texts and has_derivative(tokens):
        raise Unread("a derivative that is still to be taken")
    if not texts.isdisjoint(MODULI):
        parts = split(tokens, _COMMAS)
        if are_several(parts):
            return _list(parts, tokens)
        residue = read_residue(tokens, _COMMAS, _structure)
        if residue is not None:
            return residue
        tokens = [_EQUALS if token.text == "\\equiv" else token for token in tokens]
        texts = {token.text for token in tokens}
    starts = [token.text for token in tokens[:2]]
    if starts == ["\\{", "\\begin"] and tokens[-1].text != "\\}":
        return _structure(tokens[1:])  # the brace before a system, which nothing closes
    for signs, reader in _READERS:
        if not texts.isdisjoint(signs):
            parts = split(tokens, signs)
            shape = reader(parts, tokens) if len(parts) > 1 else None
            if shape is not None:
                return shape
    head = head_of(tokens)
    if head:
        return Applied(head, _structure(tokens[1:]))
    vector = read_vector_sum(tokens)
    if vector is not None:
        return vector
    return _choice(tokens) or _bracketed(tokens) or _column(tokens) or _single(tokens)


def _choice(tokens: Tokens) -> Choice | None:
    lettered = read_lettered(tokens)
    return Choice(lettered[0], read(lettered[1])) if lettered is not None else None


def _list(parts: list[Tokens], tokens: Tokens) -> Shape:
    items = [part for part in parts if part]
    if not items:
        raise Unread("a list without items")
    if sum(token.text in ("if", "when") for token in tokens) > 1:
        raise Unread("values with a condition each are no list")
    signs = {token.text for token in tokens}
    if not signs.isdisjoint(("\\land", "\\lor")) and all(map(_is_letter, items)):
        raise Unread("a proposition")
    has_or = any(token.text in _ORS for token in tokens)
    if has_or and all(is_letter_in_text(item) for item in items):
        raise Unread("one choice or another is no list of choices")
    pieces = _pieces(items)
    shapes = without_reals(all_named(_together(pieces)))
    remaining = left_out(shapes)
    if remaining is not None:
        return remaining
    if len(shapes) == 1 and isinstance(shapes[0], Relation):
        return shapes[0]
    if has_or and all(isinstance(s, Relation) and set(s.signs) != {"="} for s in shapes):
        return Unions(shapes)  # equations between words are a list, as between commas
    union = points_and_rays(shapes) if has_or else None
    if union is not None:
        return union
    relations = [shape for shape in shapes if isinstance(shape, Relation)]
    if len(relations) == len(shapes) > 1:
        is_and = any(token.text in _ANDS for token in tokens)
        together = joined(relations, is_and=is_and)
        if together is not None:
            return together
    is_or = has_or and (are_of_several(shapes) or len(relations) > 0)
    return Group("", "or" if is_or and not _are_solutions(pieces, tokens) else "", shapes)


def _are_solutions(pieces: list[tuple[Shape, ...]], tokens: Tokens) -> bool:
    r"""Whether alternatives name the same symbols: `x=2,y=1 \text{ or } x=1,y=2` are two points.

    Without the commas, `x=2 \text{ or } y=1 \text{ or } ...`, nothing says what goes together.
    """
    alternatives = split(tokens, _ORS)
    remaining = iter(pieces)
    names: set[frozenset[str]] = set()
    for alternative in alternatives:
        count = sum(bool(part) for part in split(alternative, _COMMAS))
        shapes = chain.from_iterable(islice(remaining, count))
        names.add(frozenset(names_of(Group("", "", tuple(shapes)))))
    return len(alternatives) > len(names) == 1 and frozenset() not in names


def _is_letter(tokens: Tokens) -> bool:
    return len(tokens) == 1 and tokens[0].kind == "letters"


def _union(parts: list[Tokens], tokens: Tokens) -> Unions | Group | None:
    are_relations = all(any(token.text in RELATIONS for token in part) for part in parts)
    if are_relations and all(token.text != "U" for token in tokens):
        return Unions(tuple(_structure(part) for part in parts))
    if not all(part and part[0].text in OPENERS for part in parts):
        return None  # U is a symbol
    shapes = tuple(_structure(part) for part in parts)
    sets = [shape for shape in shapes if isinstance(shape, Group) and shape.opener == "\\{"]
    if len(sets) == len(shapes):
        return Group("\\{", "\\}", tuple(item for one in sets for item in one.items))
    return Unions(shapes)


def _items(items: list[Tokens]) -> tuple[Shape, ...]:
    return _together(_pieces(items))


def _pieces(items: list[Tokens]) -> list[tuple[Shape, ...]]:
    r"""Read what each item stands for: `x=y=0` and `x=\pm1` are two shapes."""
    if len(items) > ITEMS:
        raise TooDeep(f"more than {ITEMS} items")
    pieces: list[tuple[Shape, ...]] = []
    for item in items:
        shape = _part(trimmed(item))
        is_bare = isinstance(shape, Group) and not shape.opener
        pieces.append(shape.items if isinstance(shape, Group) and is_bare else (shape,))
    return pieces


def _together(pieces: list[tuple[Shape, ...]]) -> tuple[Shape, ...]:
    return with_items_for_dots(tuple(chain.from_iterable(pieces)))


def _relation(sides: list[Tokens], tokens: Tokens) -> Shape:
    pairs = zip(tokens, levels(tokens), strict=True)
    signs = [token.text for token, depth in pairs if not depth and token.text in RELATIONS]
    has_signs = any(token.text in ("\\pm", "\\mp") for token in tokens)
    if has_signs and signs != ["\\in"]:
        return _list(both_signs(tokens), ())
    if "\\approx" in signs:
        return _about(tokens)
    if not all(sides):
        raise Unread("a side of a relation is empty")
    are_symbols = len(sides) > 2 and all(len(side) == 1 and name_of(side) for side in sides)
    if (set(signs) <= {"="} and not are_symbols) or signs == ["\\in"]:
        is_number = all(token.kind not in ("letters", "word") for token in sides[-1])
        name = name_of(sides[0]) or (expression_name(sides[0]) if is_number else "")
        several = _each_equal(sides) if name else None
        if several is not None:
            return several
        if name:
            values = tuple(_part(side) for side in sides[1:])
            return _one_by_one(name, values, sides) or Named(name, values, tokens)
    if "\\in" in signs:
        raise Unread("a relation of a kind that is not known")
    relation = Relation(tuple(sides), tuple(signs))
    return without_bars(relation) or relation


def _follows(sides: list[Tokens], tokens: Tokens) -> Shape | None:
    r"""Read `X \sim N(0,1)`; None where it is no name and its distribution."""
    name = name_of(sides[0])
    if len(sides) != 2 or not sides[1] or not head_of(sides[1]) or not name:
        return None
    return Named(name, (_structure(sides[1]),), tokens)


def _each_equal(sides: list[Tokens]) -> Group | None:
    """Return `x = y = 2` as `x = 2, y = 2`; None for another chain."""
    names = [name_of(side) if len(side) == 1 else "" for side in sides[:-1]]
    if len(names) < 2 or not all(names) or name_of(sides[-1]):
        return None
    value = (_part(sides[-1]),)
    named = (
        Named(name, value, [*side, _EQUALS, *sides[-1]])
        for name, side in zip(names, sides, strict=False)
    )
    return Group("", "", tuple(named))


def _one_by_one(name: str, values: tuple[Shape, ...], sides: list[Tokens]) -> Group | None:
    """Return `(x,y) = (1,2)` as the tuple of `x=1` and `y=2`; None for another equation."""
    names = name.split(",") if sides[0][0].text == "(" else []  # no tuple, but `T(x,y)`
    value = values[0]
    is_tuple = isinstance(value, Group) and value.opener in ("(", "[", "<<")
    if len(values) > 1 or len(names) < 2 or not isinstance(value, Group) or not is_tuple:
        return None
    if len(value.items) != len(names):
        return None
    symbols = split(unbraced(sides[0])[1:-1], (",",))
    if len(symbols) != len(names):
        return None  # the tuple is what a function is applied to, or has something before it
    named = (
        Named(name, (item,), [*symbol, _EQUALS, *(item.tokens if isinstance(item, Scalar) else ())])
        for name, symbol, item in zip(names, symbols, value.items, strict=True)
    )
    return Group("(", ")", tuple(named))


def _about(tokens: Tokens) -> Shape:
    r"""Read what stands before the sign of about equal; after it, where before it is a name."""
    exact, close, *_ = split(tokens, ("\\approx",))
    return _structure(close) if close and name_of(exact) else _structure(exact)


def _bracketed(tokens: Tokens) -> Shape | None:
    opener = tokens[0].text
    closer = tokens[-1].text
    if opener not in OPENERS or closer not in CLOSERS or not encloses(tokens):
        return None
    if opener == "{":
        return _inner(tokens)  # braces without a backslash are not seen
    if opener == "\\{":
        described = read_described(tokens[1:-1], _structure)
        if described is not None:
            return described
        tokens = [tokens[0], *without_integers(tokens[1:-1]), tokens[-1]]
    elif any(token.text in ("\\pm", "\\mp") for token in tokens):
        return _both_signs(tokens)
    items = split(tokens[1:-1], (",", ";"))
    if len(items) > 1 and opener + closer == "[]" and any(token.text == ";" for token in tokens):
        return _rows_by_semicolon(tokens)
    if len(items) > 1:
        return Group(opener, closer, _items([item for item in items if item]))
    if opener + closer in ("\\{\\}", "<<>>"):
        return Group(opener, closer, _items(items) if items[0] else ())
    if items[0] and (opener == "(" or tokens[1].text == "\\begin"):
        return _inner(tokens)
    return None


def _column(tokens: Tokens) -> Shape | None:
    r"""Read `(1,2)^T`, a column, `\operatorname{diag}(1,2)`, and a span of vectors."""
    texts = [token.text for token in tokens]
    if texts[0] == "span" and texts[1:2] in (["("], ["\\{"]) and encloses(tokens[1:]):
        return Group("span", "", _items(split(tokens[2:-1], (",",))))
    if texts[:2] in (["diag", "("], ["diag", "\\{"]) and encloses(tokens[1:]):
        return diagonal(_items(split(tokens[2:-1], (",",))))
    for length in (2, 4):
        is_raised = texts[-length:] in (["^", "T"], ["^", "{", "T", "}"], ["^", "\\top"])
        if is_raised and texts[0] in ("(", "[") and "," in texts:
            row = _bracketed(tokens[:-length])
            return Matrix(tuple((item,) for item in row.items)) if isinstance(row, Group) else None
    return None


def _both_signs(tokens: Tokens) -> Shape:
    r"""Read `(\pm 1, 2)` as two tuples, and `(1 \pm x)` as two numbers."""
    texts = [token.text for token in tokens]
    if "," not in texts and ";" not in texts:
        return _plus_minus(tokens)
    if texts.count("\\pm") + texts.count("\\mp") > 1:
        raise Unread("how many of the signs go together is not clear")
    return Group("", "", tuple(_structure(side) for side in both_signs(tokens)))


def _rows_by_semicolon(tokens: Tokens) -> Shape:
    """Read `[1,2;3,4]`: rows between semicolons."""
    rows = split(tokens[1:-1], (";",))
    if any(not row for row in rows):
        raise Unread("an empty row")
    cells = [_items(split(row, (",",))) for row in rows]
    if len(cells[0]) == 1:
        return Group("[", "]", tuple(row[0] for row in cells))
    return Matrix(tuple(cells))


def _inner(tokens: Tokens) -> Shape:
    """Read what stands in round brackets: one more look for structure, else a product."""
    try:
        return _single(tokens)
    except (TooDeep, TooLarge, Undefined):
        raise
    except Unread:
        return _structure(trimmed(tokens[1:-1]))


def _single(tokens: Tokens) -> Shape:
    texts = [token.text for token in tokens]
    if "\\begin" in texts:
        environment = read_environment(tokens)
        return environment if isinstance(environment, Matrix) else _system(environment.rows)
    if texts in (["\\emptyset"], ["\\{", "\\}"]):
        return Group("\\{", "\\}", ())
    if texts[0] == "\\mathbb" and texts[4:6] == ["-", "\\{"]:
        return _complement([tokens[:4], tokens[5:]], tokens)
    if texts[0] == "\\mathbb":
        return numbers(texts)
    if "\\pm" in texts or "\\mp" in texts:
        return _plus_minus(tokens)
    based = read_based(tokens)
    if based is not None:
        return based
    if ":" in texts:
        return Ratio(tuple(read_scalar(part) for part in split(tokens, (":",))))
    return read_scalar(tokens)


def _complement(parts: list[Tokens], tokens: Tokens) -> Shape:
    r"""Read `\mathbb{R} \setminus \{0\}`: the intervals between the points that are left out."""
    if any(not part for part in parts):
        raise Unread("points left out of nothing")
    points: list[Shape] = []
    for part in parts[1:]:
        shape = _structure(part)
        points.extend(
            shape.items if isinstance(shape, Group) and shape.opener == "\\{" else [shape]
        )
    return without(points, _structure(parts[0]))


def _system(rows: Sequence[Tokens]) -> Shape:
    """Read the rows of a system as a list, or as a function's pieces."""
    cells = [split(row, ("&",)) for row in rows]
    if all(map(is_piece, rows)):
        cells = [split(trimmed(row), (",",)) for row in rows]
    if all(len(row) == 2 and not is_aligned(row) for row in cells):
        return Pieces(tuple((_structure(trimmed(x)), _condition(y)) for x, y in cells))
    return _list([_without_marks(row) for row in rows], rows[0])


def _without_marks(row: Tokens) -> Tokens:
    """Return a row without the marks that align it with the others."""
    return [token for token in row if token.text != "&"]


def _condition(tokens: Tokens) -> Shape:
    while tokens and (tokens[0].text == "," or tokens[0].text in _CONDITIONAL):
        tokens = tokens[1:]
    tokens = trimmed(tokens)
    if not tokens or tokens[0].text in ("otherwise", "else", "elsewhere"):
        return Words("otherwise", is_plain=False)
    if any(token.kind == "word" and len(token.text) > 1 for token in tokens):
        words = read_words(tokens, is_last=True)  # `n even` is no n with a label
        if words is None:
            raise Unread("a condition with words in it")
        return words
    return _structure(tokens)


def _plus_minus(tokens: Tokens) -> Group:
    return Group("", "", tuple(read_scalar(side) for side in every_sign(tokens)))


_READERS = (
    (_COMMAS, _list),
    (_UNIONS, _union),
    (frozenset((FOLLOWS,)), _follows),
    (RELATIONS, _relation),
    (DOTS, read_series),
    (frozenset(("\\setminus",)), _complement),
)
"""What parts an answer, from the outside inwards, and what reads the parts."""
