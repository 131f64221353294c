r"""Say whether two answers are the same: one rule for each pair of shapes, and each is symmetric.

True and False are certain; None is for what another grader has to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gem_envs_math.grading.arithmetic.numeric import FLOATS, Kit
from gem_envs_math.grading.comparing.equations import (
    same_equation,
    same_inequality,
    without_fractions,
)
from gem_envs_math.grading.comparing.freely_named import is_of_itself
from gem_envs_math.grading.comparing.labels import are_other_labels
from gem_envs_math.grading.comparing.lists import (
    are_over_several,
    brackets,
    is_point_and_values,
    is_position,
    is_set_of_points,
    is_vector,
    is_zero_of_polynomial,
    letters_of,
)
from gem_envs_math.grading.comparing.matching import match
from gem_envs_math.grading.comparing.pieces import same_pieces
from gem_envs_math.grading.comparing.residues import is_residue, same_residue
from gem_envs_math.grading.comparing.solutions import solutions
from gem_envs_math.grading.comparing.spans import same_space
from gem_envs_math.grading.comparing.unions import merged
from gem_envs_math.grading.comparing.values import same_scalar
from gem_envs_math.grading.comparing.vectors import components, is_in_brackets
from gem_envs_math.grading.comparing.words import same_words, words_scalar
from gem_envs_math.grading.reading.answer import read, read_scalar
from gem_envs_math.grading.reading.intervals import as_set, solved_for
from gem_envs_math.grading.reading.items import (
    are_of_several_symbols,
    in_order_of_names,
    names_of,
)
from gem_envs_math.grading.reading.naming import argument_of, is_segment, same_name
from gem_envs_math.grading.reading.notations import (
    based_scalar,
    clock_ratio,
    clock_scalar,
    ratio_scalar,
    same_based,
    same_clock,
    same_ratio,
)
from gem_envs_math.grading.reading.quantifiers import are_whole_numbers
from gem_envs_math.grading.reading.shapes import (
    Applied,
    Based,
    Choice,
    Clock,
    Group,
    Matrix,
    Named,
    Pieces,
    Ratio,
    Relation,
    Residue,
    Scalar,
    Shape,
    Unions,
    Words,
)
from gem_envs_math.grading.text.derivatives import write_derivative
from gem_envs_math.grading.text.tokens import Token

__all__ = ["Comparer"]

Truth = bool | None


class Comparer:
    """The rules; `kit` are the numbers that compare what no rule does exactly."""

    def __init__(self, kit: Kit = FLOATS) -> None:
        self.kit = kit

    def same(self, a: Shape, b: Shape) -> Truth:
        """Whether two answers are the same; None where that is not known. May raise Unread."""
        if _are_of_different_symbols(a, b):
            return False
        for first, second in ((a, b), (b, a)):
            rule = _RULES.get((type(first), type(second)))
            if rule is not None:
                return rule(self, first, second)
        for kind, rule in _OTHERS:
            for first, second in ((a, b), (b, a)):
                if isinstance(first, kind):
                    return rule(self, first, second)
        return False

    def _in_order(self, a: Sequence[Shape], b: Sequence[Shape]) -> Truth:
        if len(a) != len(b):
            return False
        return _all([self.same(x, y) for x, y in zip(a, b, strict=True)])

    def _groups(self, a: Group, b: Group) -> Truth:
        for one, other in ((a, b), (b, a)):
            is_choice = are_over_several(one.items) or any(map(_is_inequality, one.items))
            is_other = other.closer != "or" and is_choice
            if one.closer == "or" and (other.opener or is_other):
                # x=1 or y=2 is neither the point (1,2) nor a set; it and a=0 or b>1 are no system.
                return False
        a, b = (side._replace(closer="") if side.closer == "or" else side for side in (a, b))
        if are_other_labels(a.items, b.items, self.same):
            return False
        parted = solutions(a), solutions(b)
        if any(parted):
            return match(parted[0] or a.items, parted[1] or b.items, self.same)
        first = brackets(a)
        second = brackets(b)
        if a.opener == b.opener == "span":
            truth = same_space(a, b)
            return match(a.items, b.items, self.same, as_sets=True) if truth is None else truth
        if is_point_and_values(a, b) or is_point_and_values(b, a):
            return False
        names = names_of(a), names_of(b)
        if all(names):
            return match(a.items, b.items, self.same)
        other = b if names[0] else a
        is_bare = not any(isinstance(item, (Named, Relation)) for item in other.items)
        is_unordered = {first, second} <= {"", "\\{\\}"}
        if any(map(are_of_several_symbols, names)) and is_unordered and is_bare:
            # 2, 1 is no list of x = 1, y = 2, as 1, 2 is; nor is the set of 2 and 1.
            sorted_a = in_order_of_names(a, names[0])
            sorted_b = in_order_of_names(b, names[1])
            truths = [self._in_order(x.items, y.items) for x, y in ((a, b), (sorted_a, sorted_b))]
            return True in truths or _all(truths)
        if any(names) and {first, second} != {""}:
            a = in_order_of_names(a, names[0])
            b = in_order_of_names(b, names[1])
        if {first, second} <= {"", "\\{\\}"}:
            same = self._members if first == second != "" else self.same
            return match(a.items, b.items, same, as_sets=first != "" or second != "")
        tuples = {"", "()", "<<>>"}
        if first == second or {first, second} <= tuples:
            return self._in_order(a.items, b.items)
        return False

    def _members(self, a: Shape, b: Shape) -> Truth:
        """Compare what two sets hold: there a set of one is not its element."""
        are_sets = [isinstance(item, Group) and item.opener == "\\{" for item in (a, b)]
        return are_sets[0] == are_sets[1] and self.same(a, b)

    def _group_scalar(self, a: Group, b: Scalar) -> Truth:
        is_single = len(a.items) == 1 and a.opener in ("", "\\{")
        # The ideal that an element generates may be written in round brackets.
        is_ideal = len(a.items) == 1 and a.opener == "<<" and is_in_brackets(b.tokens)
        if is_single or is_ideal:
            return self.same(a.items[0], b)
        return self._group_vector(a, b) or "".join(t.text for t in b.tokens).lower() == letters_of(
            a
        )

    def _matrices(self, a: Matrix, b: Matrix) -> Truth:
        if len(a.rows) != len(b.rows):
            return False
        return _all([self._in_order(x, y) for x, y in zip(a.rows, b.rows, strict=True)])

    def _matrix_group(self, a: Matrix, b: Group) -> Truth:
        names = names_of(b)
        if not b.opener and names and names == [f"x_{at + 1}" for at in range(len(names))]:
            b = b._replace(opener="(", closer=")")
        if not b.opener and is_position(names):
            b = in_order_of_names(b, names)._replace(opener="(", closer=")")
        if brackets(b) not in ("()", "<<>>", "[]"):
            return False
        if any(isinstance(item, Group) for item in b.items):
            return self._matrix_rows(a, b)
        if len(a.rows) == 1:
            return self._in_order(a.rows[0], b.items)
        column = [cell for row in a.rows for cell in row]
        return self._in_order(column, b.items) if len(column) == len(a.rows) else False

    def _named(self, a: Named, b: Named) -> Truth:
        if (solved_for(a) is None) != (solved_for(b) is None):
            member, equal = (a, b) if solved_for(a) is not None else (b, a)
            if _is_interval(member.values[0]) and not _is_interval(equal.values[0]):
                return False
        if same_name(a.name, b.name) and not _is_turned(a, b):
            if isinstance(a.values[0], Residue) != isinstance(b.values[0], Residue):
                equal, other = (b, a) if isinstance(a.values[0], Residue) else (a, b)
                return _all([self.same(equal, value) for value in other.values])
            return _all([self.same(x, y) for x in a.values for y in b.values])
        renamed = _renamed(a, b)
        if renamed is not None:
            return self.same(a, renamed)
        is_implicit = _mentions(a, b.name) or _mentions(b, a.name)
        is_implicit |= "=" in (a.name[0], b.name[0])
        is_implicit |= a.tokens[0].text == b.tokens[0].text == "|"
        return self._equations(_relation(a), _relation(b)) if is_implicit else False

    def _equations(self, a: Relation | None, b: Relation | None) -> Truth:
        """Compare link by link: `a < b < c` says that a is below b and b below c."""
        if a is None or b is None or len(a.signs) != len(b.signs):
            return False
        truths = [
            _all([self._links(x, y) for x, y in zip(_links(a), _links(other), strict=True)])
            for other in (b, _mirrored(b))
        ]
        if True in truths:
            return True
        return None if None in truths else False

    def _links(self, a: Relation, b: Relation) -> Truth:
        a = _ascending(a)
        b = _ascending(b)
        if a.signs != b.signs:
            return False
        same = same_equation if a.signs[0] in ("=", "!=") else same_inequality
        truth = same((a.sides[0], a.sides[1]), (b.sides[0], b.sides[1]), self.kit)
        if truth is True or a.signs[0] != "=":
            return truth
        # Where functions stand, fractions may have been multiplied out.
        cleared = [without_fractions(side.sides) for side in (a, b)]
        if cleared[0] is None and cleared[1] is None:
            return truth
        first = cleared[0] or a.sides
        second = cleared[1] or b.sides
        return same_equation((first[0], first[1]), (second[0], second[1]), self.kit)

    def _relations(self, a: Relation, b: Relation) -> Truth:
        first = as_set(a)
        second = as_set(b)
        if first is not None and second is not None:
            return self.same(first, second)
        if _says_nothing(a) != _says_nothing(b):
            return False
        for other in (b, _mirrored(b)):
            if a.signs == other.signs:
                sides = zip(a.sides, other.sides, strict=True)
                if all(same_scalar(read_scalar(x), read_scalar(y), self.kit) for x, y in sides):
                    return True
        is_chain = 2 < len(a.sides) <= _LONGEST_CHAIN
        if is_chain and set(a.signs) == {"="} == set(b.signs):
            same_sides = match(a.sides, b.sides, self._sides)  # in any order
            if same_sides:
                return True
        return self._equations(a, b)

    def _sides(self, a: Sequence[Token], b: Sequence[Token]) -> Truth:
        return same_scalar(read_scalar(a), read_scalar(b), self.kit)

    def _named_relation(self, a: Named, b: Relation) -> Truth:
        values = as_set(b)
        if values is not None:
            if solved_for(a) is None and not _is_interval(a.values[0]):
                return False  # x = 1, 2 is no interval
            return _all([self.same(value, values) for value in a.values])
        if not all(isinstance(value, Scalar) for value in a.values):
            return False  # a list, an interval or words are no side of an equation
        return self._equations(_relation(a), b)

    def _named_other(self, a: Named, b: Shape) -> Truth:
        relation = _relation(a)
        if relation is not None and _says_nothing(relation):
            return False
        if isinstance(b, Scalar) and is_of_itself(a):
            return False
        if isinstance(b, Residue) and isinstance(a.values[0], Scalar):
            return is_residue(a.name, a.values[0], b)
        items = b.items if isinstance(b, Group) else ()
        names = [item.name for item in items if isinstance(item, Named)]
        if names and is_vector(a) and is_position([name.partition("(")[0] for name in names]):
            return self.same(a.values[0], b)
        if not all(same_name(a.name, name) for name in names):
            return False
        if solved_for(a) is not None and _is_enumerated(b) and _is_interval(a.values[0]):
            return False
        return _all([self.same(value, b) for value in a.values])

    def _relation_other(self, a: Relation, b: Shape) -> Truth:
        values = as_set(a)
        if values is not None:
            b = are_whole_numbers(a, b) or b
            return False if _is_enumerated(b) else self.same(values, b)
        if is_set_of_points(b):
            return self.same(a, b.items[0])  # type: ignore[union-attr]
        if isinstance(b, Scalar) and is_zero_of_polynomial(a):
            return same_scalar(read_scalar(a.sides[0]), b, self.kit)
        if set(a.signs) == {"="} and isinstance(b, Scalar) and not _says_nothing(a):
            return _all([same_scalar(read_scalar(side), b, self.kit) for side in a.sides])
        return False

    def _unions(self, a: Unions, b: Unions) -> Truth:
        return match(_parts(a), _parts(b), self.same)

    def _group_words(self, a: Group, b: Words) -> Truth:
        """Compare a list with words: the empty set is no solution."""
        if len(a.items) == 1 and a.opener in ("", "\\{"):
            return self.same(a.items[0], b)
        return (not a.items and b.text == "no solution") or letters_of(a) == b.text

    def _group_vector(self, a: Group, b: Scalar) -> Truth:
        r"""Compare a tuple with a sum of unit vectors, `2\mathbf{i} + 3\mathbf{j}`."""
        if a.opener not in ("(", "<<") or len(a.items) > 3:
            return False
        vector = components(b, len(a.items))
        return self._in_order(a.items, vector) if vector else False

    def _union_group(self, a: Unions, b: Group) -> Truth:
        """Compare a union with a list of intervals, `(0,1), (2,3)`."""
        if b.opener or not all(isinstance(item, Group) for item in b.items):
            return match(_parts(a), (b,), self.same)
        return match(_parts(a), b.items, self.same)

    def _matrix_vector(self, a: Matrix, b: Scalar) -> Truth:
        r"""Compare a row or a column with a sum of unit vectors, `\mathbf{i} - \mathbf{k}`."""
        cells = [cell for row in a.rows for cell in row]
        if len(cells) > 3 or 1 not in (len(a.rows), len(a.rows[0])):
            return False
        vector = components(b, len(cells))
        return self._in_order(cells, vector) if vector else False

    def _matrix_rows(self, a: Matrix, b: Group) -> Truth:
        """Compare a matrix with a list of its rows, `[[1,2],[3,4]]`."""
        rows = [item for item in b.items if isinstance(item, Group) and item.opener in ("[", "(")]
        if brackets(b) not in ("[]", "()") or len(rows) != len(a.rows):
            return False
        return _all([self._in_order(x, y.items) for x, y in zip(a.rows, rows, strict=True)])

    def _union_other(self, a: Unions, b: Shape) -> Truth:
        return match(_parts(a), (b,), self.same)

    def _applied_other(self, a: Applied, b: Shape) -> Truth:
        # The name of a point may be left out; that of a distribution may not.
        return len(a.head) == 1 and self.same(a.arguments, b)

    def _choice_words(self, a: Choice, b: Words) -> Truth:
        return a.letter == b.text or self.same(a.meaning, b)

    def _choice_other(self, a: Choice, b: Shape) -> Truth:
        if isinstance(b, Scalar) and [token.text.casefold() for token in b.tokens] == [a.letter]:
            return True
        return self.same(a.meaning, b)


def _all(truths: Sequence[Truth]) -> Truth:
    if False in truths:
        return False
    return None if None in truths else True


def _is_inequality(shape: Shape) -> bool:
    return isinstance(shape, Relation) and set(shape.signs) != {"="}


def _is_interval(a: Shape) -> bool:
    return isinstance(a, Unions) or (isinstance(a, Group) and a.opener in ("(", "["))


def _is_enumerated(a: Shape) -> bool:
    """Whether an answer is single numbers, one after the other: it is no interval."""
    if isinstance(a, Group):
        return a.opener not in ("(", "[") or any(isinstance(item, Named) for item in a.items)
    return isinstance(a, Matrix)


def _mentions(a: Named, name: str) -> bool:
    return name in "".join(token.text for token in a.tokens if token.text not in ("{", "}"))


_VARIABLES = frozenset("xyztsuvnmk")  # what a function is given by; f(a) is a value


def _is_turned(a: Named, b: Named) -> bool:
    """Whether names are a vector's and its opposite's: `AB` and `BA` with a tuple each."""
    return a.name != b.name and is_segment(a.name) and not isinstance(b.values[-1], Scalar)


def _renamed(a: Named, b: Named) -> Named | None:
    """Return `f(t) = 2t` as `f(x) = 2x`, where `a` is the same function of `x`; else None."""
    head, symbol = argument_of(a.name)
    other, argument = argument_of(b.name)
    is_renamed = head == other and symbol != argument and {symbol, argument} <= _VARIABLES
    if not head or not is_renamed or _mentions(b, symbol):
        return None
    tokens = [
        token._replace(text=symbol) if token.text == argument else token for token in b.tokens
    ]
    if any(argument in token.text for token in tokens if token.kind == "letters"):
        return None  # a run of letters holds the symbol too
    shape = read(tokens)
    return shape if isinstance(shape, Named) else None


def _are_of_different_symbols(a: Shape, b: Shape) -> bool:
    """Whether two inequalities are solved for two symbols: `x > 3` is not `y > 3`."""
    first = solved_for(a)
    if first is not None and _SEVERAL in first:
        return first != solved_for(b)  # `x < 1 or y > 2` is no set of numbers
    second = solved_for(b)
    if second is not None and _SEVERAL in second:
        return True
    return None not in (first, second) and first != second


def _relation(a: Named) -> Relation | None:
    at = [index for index, token in enumerate(a.tokens) if token.text == "="]
    if len(at) != len(a.values):
        return None
    starts = [0, *(index + 1 for index in at)]
    ends = [*at, len(a.tokens)]
    sides = [a.tokens[start:end] for start, end in zip(starts, ends, strict=True)]
    derivative: list[Token] = []
    if sides[0][0].text == "\\frac" and write_derivative(sides[0], 0, derivative):
        sides[0] = derivative
    return Relation(tuple(sides), ("=",) * len(at))


_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _mirrored(a: Relation) -> Relation:
    return Relation(a.sides[::-1], tuple(_MIRROR.get(sign, sign) for sign in a.signs[::-1]))


def _says_nothing(a: Relation) -> bool:
    """Whether all sides are spelled alike: `1=1` is no computation, and no answer."""
    return len({tuple(token.text for token in side) for side in a.sides}) == 1


def _ascending(a: Relation) -> Relation:
    return _mirrored(a) if a.signs[0] in (">", ">=") else a


def _links(a: Relation) -> list[Relation]:
    """Return the relations of two sides that a chain says."""
    pairs = zip(a.sides, a.sides[1:], strict=False)
    return [Relation(sides, (sign,)) for sides, sign in zip(pairs, a.signs, strict=True)]


_LONGEST_CHAIN = 8  # sides that may stand in any order: each is compared with each

_SEVERAL = " or "  # between the symbols that the parts of a union are solved for


def _parts(a: Unions) -> Sequence[Shape]:
    if _SEVERAL in (solved_for(a) or ""):
        return a.parts
    parts: list[Shape] = []
    for part in a.parts:
        values: Shape | None = as_set(part) if isinstance(part, Relation) else None
        if isinstance(part, Named) and solved_for(part) is not None:
            values = part.values[0]
        parts.extend(values.parts if isinstance(values, Unions) else [values or part])
    return merged(parts)


_Rule = Callable[[Comparer, Any, Any], Truth]

# The keys are the types of the arguments, so each rule knows its own.
_RULES: dict[tuple[type, type], _Rule] = {
    (Scalar, Scalar): lambda self, a, b: same_scalar(a, b, self.kit),
    (Group, Group): Comparer._groups,
    (Group, Scalar): Comparer._group_scalar,
    (Group, Words): Comparer._group_words,
    (Matrix, Matrix): Comparer._matrices,
    (Matrix, Group): Comparer._matrix_group,
    (Matrix, Scalar): Comparer._matrix_vector,
    (Named, Named): Comparer._named,
    (Named, Relation): Comparer._named_relation,
    (Relation, Relation): Comparer._relations,
    (Unions, Unions): Comparer._unions,
    (Unions, Group): Comparer._union_group,
    (Pieces, Pieces): lambda self, a, b: same_pieces(a, b, self._in_order),
    (Residue, Residue): lambda self, a, b: same_residue(a, b, self.kit),
    (Based, Based): lambda _, a, b: same_based(a, b),
    (Based, Scalar): lambda _, a, b: based_scalar(a, b),
    (Clock, Clock): lambda _, a, b: same_clock(a, b),
    (Clock, Scalar): lambda _, a, b: clock_scalar(a, b),
    (Clock, Ratio): lambda _, a, b: clock_ratio(a, b),
    (Ratio, Ratio): lambda _, a, b: same_ratio(a, b),
    (Ratio, Scalar): lambda _, a, b: ratio_scalar(a, b),
    (Words, Words): lambda _, a, b: same_words(a, b),
    (Words, Scalar): lambda _, a, b: words_scalar(a, b),
    (Choice, Choice): lambda self, a, b: a.letter == b.letter and self.same(a.meaning, b.meaning),
    (Choice, Words): Comparer._choice_words,
    (Applied, Applied): lambda self, a, b: a.head == b.head and self.same(a.arguments, b.arguments),
}

# With any other shape, the first of these that one of the two is.
_OTHERS: tuple[tuple[type, _Rule], ...] = (
    (Choice, Comparer._choice_other),
    (Named, Comparer._named_other),
    (Relation, Comparer._relation_other),
    (Unions, Comparer._union_other),
    (Applied, Comparer._applied_other),
)
