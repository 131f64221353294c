r"""Say whether two answers are the same: one rule for each pair of shapes, and each is symmetric.

True and False are certain; None is for what another grader has to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gem_envs_math.grading.equations import same_equation
from gem_envs_math.grading.intervals import as_set
from gem_envs_math.grading.matching import match
from gem_envs_math.grading.notations import (
    based_scalar,
    clock_scalar,
    ratio_scalar,
    same_based,
    same_clock,
    same_ratio,
)
from gem_envs_math.grading.reading import read_scalar
from gem_envs_math.grading.shapes import (
    Based,
    Choice,
    Clock,
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
from gem_envs_math.grading.values import same_scalar

__all__ = ["same"]

Truth = bool | None


def same(a: Shape, b: Shape) -> Truth:
    """Whether two answers are the same; None where that is not known."""
    for first, second in ((a, b), (b, a)):
        rule = _RULES.get((type(first), type(second)))
        if rule is not None:
            return rule(first, second)
    for kind, rule in _OTHERS:
        for first, second in ((a, b), (b, a)):
            if isinstance(first, kind):
                return rule(first, second)
    return False


def _all(truths: Sequence[Truth]) -> Truth:
    if False in truths:
        return False
    return None if None in truths else True


def _in_order(a: Sequence[Shape], b: Sequence[Shape]) -> Truth:
    if len(a) != len(b):
        return False
    return _all([same(x, y) for x, y in zip(a, b, strict=True)])


def _groups(a: Group, b: Group) -> Truth:
    first, second = _brackets(a), _brackets(b)
    if {first, second} <= {"", "\\{\\}"}:
        return match(a.items, b.items, same, as_sets=first != "" or second != "")
    tuples = {"", "()", "<<>>"}
    if first == second or {first, second} <= tuples:
        return _in_order(a.items, b.items)
    return False


def _brackets(group: Group) -> str:
    """Return a group's brackets; at an end without bound the round one is meant."""
    opener, closer = group.opener, group.closer
    if len(group.items) == 2 and {opener, closer} <= {"(", "[", ")", "]"}:
        opener = "(" if _is_infinite(group.items[0]) else opener
        closer = ")" if _is_infinite(group.items[1]) else closer
    return opener + closer


def _is_infinite(shape: Shape) -> bool:
    return isinstance(shape, Scalar) and any(token.text == "\\infty" for token in shape.tokens)


def _group_scalar(a: Group, b: Scalar) -> Truth:
    is_single = len(a.items) == 1 and a.opener in ("", "\\{")
    return same(a.items[0], b) if is_single else False


def _matrices(a: Matrix, b: Matrix) -> Truth:
    if len(a.rows) != len(b.rows):
        return False
    return _all([_in_order(x, y) for x, y in zip(a.rows, b.rows, strict=True)])


def _matrix_group(a: Matrix, b: Group) -> Truth:
    if _brackets(b) not in ("()", "<<>>", "[]"):
        return False
    if len(a.rows) == 1:
        return _in_order(a.rows[0], b.items)
    column = [cell for row in a.rows for cell in row]
    return _in_order(column, b.items) if len(column) == len(a.rows) else False


def _named(a: Named, b: Named) -> Truth:
    if a.name == b.name:
        return _all([same(x, y) for x in a.values for y in b.values])
    is_solved = not any(token.text == b.name for token in a.tokens)
    return False if is_solved else _equations(_relation(a), _relation(b))


def _relation(a: Named) -> Relation | None:
    at = [index for index, token in enumerate(a.tokens) if token.text == "="]
    if len(at) != 1:
        return None
    return Relation((a.tokens[: at[0]], a.tokens[at[0] + 1 :]), ("=",))


def _equations(a: Relation | None, b: Relation | None) -> Truth:
    if a is None or b is None:
        return False
    if a.signs == b.signs == ("=",):
        return same_equation((a.sides[0], a.sides[1]), (b.sides[0], b.sides[1]))
    return None


def _relations(a: Relation, b: Relation) -> Truth:
    first, second = as_set(a), as_set(b)
    if first is not None and second is not None:
        return same(first, second)
    for other in (b, _mirrored(b)):
        if a.signs == other.signs:
            sides = zip(a.sides, other.sides, strict=True)
            if all(same_scalar(read_scalar(x), read_scalar(y)) for x, y in sides):
                return True
    return _equations(a, b)


_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _mirrored(a: Relation) -> Relation:
    return Relation(a.sides[::-1], tuple(_MIRROR.get(sign, sign) for sign in a.signs[::-1]))


def _named_relation(a: Named, b: Relation) -> Truth:
    values = as_set(b)
    if values is not None:
        return _all([same(value, values) for value in a.values])
    return _equations(_relation(a), b)


def _named_other(a: Named, b: Shape) -> Truth:
    return _all([same(value, b) for value in a.values])


def _relation_other(a: Relation, b: Shape) -> Truth:
    values = as_set(a)
    if values is not None:
        return same(values, b)
    if set(a.signs) == {"="} and isinstance(b, Scalar):
        return _all([same_scalar(read_scalar(side), b) for side in a.sides])
    return False


def _unions(a: Unions, b: Unions) -> Truth:
    return match(_parts(a), _parts(b), same)


def _union_other(a: Unions, b: Shape) -> Truth:
    return match(_parts(a), (b,), same)


def _parts(a: Unions) -> Sequence[Shape]:
    parts: list[Shape] = []
    for part in a.parts:
        values = as_set(part) if isinstance(part, Relation) else None
        parts.extend(values.parts if isinstance(values, Unions) else [values or part])
    return parts


def _words(a: Words, b: Words) -> Truth:
    first, second = a.text.replace(" ", ""), b.text.replace(" ", "")
    if first == second:
        return True
    is_product = a.is_plain and b.is_plain and sorted(first) == sorted(second)
    return None if is_product else False


def _words_scalar(a: Words, b: Scalar) -> Truth:
    r"""Compare letters with letters: `\text{C}` and `C`; a formula is never words."""
    letters = "".join(token.text for token in b.tokens if token.kind in ("letters", "word"))
    if len(b.tokens) == 1 and letters.casefold() == a.text:
        return True
    is_product = a.is_plain and sorted(letters.casefold()) == sorted(a.text)
    return None if is_product else False


def _choice_words(a: Choice, b: Words) -> Truth:
    return a.letter == b.text or same(a.meaning, b)


def _choice_other(a: Choice, b: Shape) -> Truth:
    if isinstance(b, Scalar) and [token.text.casefold() for token in b.tokens] == [a.letter]:
        return True
    return same(a.meaning, b)


# The keys are the types of the arguments: each rule knows its own.
_RULES: dict[tuple[type, type], Callable[[Any, Any], Truth]] = {
    (Scalar, Scalar): same_scalar,
    (Group, Group): _groups,
    (Group, Scalar): _group_scalar,
    (Matrix, Matrix): _matrices,
    (Matrix, Group): _matrix_group,
    (Named, Named): _named,
    (Named, Relation): _named_relation,
    (Relation, Relation): _relations,
    (Unions, Unions): _unions,
    (Based, Based): same_based,
    (Based, Scalar): based_scalar,
    (Clock, Clock): same_clock,
    (Clock, Scalar): clock_scalar,
    (Ratio, Ratio): same_ratio,
    (Ratio, Scalar): ratio_scalar,
    (Words, Words): _words,
    (Words, Scalar): _words_scalar,
    (Choice, Choice): lambda a, b: a.letter == b.letter and same(a.meaning, b.meaning),
    (Choice, Words): _choice_words,
}

# With any other shape, the first of these that one of the two is.
_OTHERS: tuple[tuple[type, Callable[[Any, Any], Truth]], ...] = (
    (Choice, _choice_other),
    (Named, _named_other),
    (Relation, _relation_other),
    (Unions, _union_other),
)
