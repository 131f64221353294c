r"""Say whether two answers with constants of integration are one family of curves or functions.

`y^2=x^2+C` is `x^2-y^2=C`, `\frac12\sin^2x+C` is `-\frac14\cos2x+C`, and `C_1e^x+C_2e^{-x}` is
`C_1\cosh x+C_2\sinh x`: as the constants may be any numbers, the values of none of them count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from gem_envs_math.grading.arithmetic.field import CONSTANTS, Field, Value
from gem_envs_math.grading.arithmetic.grammar import compute
from gem_envs_math.grading.arithmetic.numeric import At, Kit, Measured
from gem_envs_math.grading.comparing.spans import rank
from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.reading.naming import argument_of, same_name
from gem_envs_math.grading.reading.shapes import Group, Named, Relation, Scalar, Shape
from gem_envs_math.grading.text.names import split_letters
from gem_envs_math.grading.text.tokens import Token

__all__ = ["same_family"]

Tokens = Sequence[Token]

_VARIABLES = ("x", "y", "z", "t", "u", "s", "r", "\\theta")
_PLACES = tuple(Fraction(over, 97) for over in (11, 23, 37, 8, 52, 67, 131, 229, 353, 499))
"""Where variables are put: small numbers first, where inverse functions have one branch."""

_CHOSEN = (29, 53, -31, -47)  # hundredths: what the constant is where a curve is followed
_EVEN_ROOT = re.compile(r"\\sqrt (?!\[ 3)|\^ \{ [^}]*(?:/|\\frac)")
_FEW = 3
_ENOUGH = 5
_LONGEST = 150  # tokens of an answer, which is computed some hundred times
_NOTHING = 1e-199


class _Form(NamedTuple):
    """What an answer says: `left = right`, with a name on the left or nothing."""

    name: str
    left: Tokens
    right: Tokens


def same_family(a: Shape, b: Shape, count: int, kit: Kit) -> bool | None:
    r"""Whether two answers whose constants are C_1, ..., C_count are one family.

    None where only numbers that prove tell. A single constant that multiplies may be a given one:
    `y=Cx^2+x` is no `y=2Cx^2+x`.
    """
    first = _form(a)
    second = _form(b)
    if count == 0 or any(
        len(form.right) + len(form.left) > _LONGEST for form in (first, second) if form
    ):
        return False
    if first is None or second is None:
        return _both_branches(a, b, count, kit)
    names = [f"C_{number + 1}" for number in range(count)]
    if not _has_prime(first) and not _has_prime(second):
        for rule in (_same_span, _same_curves):
            truth = _decided(lambda points, rule=rule: rule(first, second, names, points), kit)  # type: ignore[misc]
            if truth is not False:
                return truth
    return _is_followed(first, second, kit, is_branch=False)


def _form(a: Shape) -> _Form | None:
    if isinstance(a, Scalar):
        return _Form("", (), a.tokens)
    if isinstance(a, Named) and len(a.values) == 1 and isinstance(a.values[0], Scalar):
        head = argument_of(a.name)[0] or a.name
        at = next((at for at, token in enumerate(a.tokens) if token.text == "="), 0)
        left = (Token("letters", head),) if len(head) == 1 else a.tokens[:at]
        return _Form(a.name, left, a.values[0].tokens)
    if isinstance(a, Relation) and a.signs == ("=",):
        return _Form("", a.sides[0], a.sides[1])
    return None


def _has_prime(form: _Form) -> bool:
    return "'" in form.name or any(token.text == "'" for token in (*form.left, *form.right))


def _symbols(form: _Form) -> set[str]:
    tokens = split_letters((*form.left, *form.right))
    return {token.text for token in tokens if token.kind == "symbol"} - CONSTANTS - {"C"}


class _AtValues(At):
    """The arithmetic of numbers with some symbols at given places."""

    def __init__(
        self,
        kit: Kit,
        places: Mapping[str, Fraction],
        measured: Mapping[str, Measured] | None = None,
    ) -> None:
        super().__init__(0, kit)
        self.places = places
        self.measured = measured or {}

    def symbol(self, name: str) -> Measured:
        if name in self.measured:
            return self.measured[name]
        return self.number(self.places[name]) if name in self.places else super().symbol(name)

    def _rounded(self, number: Any, error: float = 0.0) -> Measured:
        # What is left of two numbers that are equal may be smaller than any error.
        if number and float(abs(number)) < _NOTHING:
            return Measured(self.kit.number(0), error + _NOTHING)
        return super()._rounded(number, error)


class _Points:
    """The places at which two forms are compared: in the field, or in numbers of a kit."""

    def __init__(self, kit: Kit | None) -> None:
        self.kit = kit
        self.is_opaque = False

    def at(self, place: int, constants: Mapping[str, int]) -> Any:
        """Return the arithmetic at a place, with the constants as given."""
        if self.kit is None:
            variables = {name: Field(place).symbol(name) for name in _VARIABLES}
            return _Noticing(self, {**variables, **constants})
        # No two variables are one number, at any place.
        places = {
            name: _PLACES[place - shift] + Fraction(shift, 89)
            for shift, name in enumerate(_VARIABLES)
        }
        whole = {name: Fraction(value) for name, value in constants.items()}
        return _AtValues(self.kit, {**places, **whole})

    def is_zero(self, value: Any) -> bool:
        if self.kit is None:
            return Field().equal(value, 0)
        return bool(abs(value.number) <= 2 * value.error)


class _Noticing(Field):
    """The field's arithmetic, which tells points when a function without exact rule stood."""

    def __init__(self, points: _Points, symbols: Mapping[str, Value]) -> None:
        super().__init__(0, symbols)  # all other symbols are the same at every place
        self.points = points

    def call(self, name: str, *arguments: Value) -> Value:
        value = super().call(name, *arguments)
        self.points.is_opaque |= self.is_opaque
        return value


def _decided(holds: Callable[[_Points], bool], kit: Kit) -> bool | None:
    """Return what a rule says in the field, or where that does not tell, in numbers."""
    exact = _Points(None)
    if _holds(holds, exact):
        return True
    if not exact.is_opaque or not _holds(holds, _Points(kit)):
        return False
    return True if kit.proves else None


def _holds(holds: Callable[[_Points], bool], points: _Points) -> bool:
    try:
        return holds(points)
    except (Unread, ArithmeticError, ValueError):
        return False


def _usable(
    points: _Points, forms: Sequence[_Form], read: Callable[[_Form, int], Any]
) -> list[list[Any]]:
    """Return what each form is at the places where all of them are defined."""
    rows: list[list[Any]] = []
    for place in range(len(_PLACES)):
        try:
            rows.append([read(form, place) for form in forms])
        except (Unread, ArithmeticError, ValueError):
            continue
        if len(rows) == _ENOUGH + 1:
            break
    return rows


def _same_span(a: _Form, b: _Form, names: Sequence[str], points: _Points) -> bool:
    """Whether two explicit answers, each a sum of constants times functions, have one span."""
    if not _are_explicit(a, b):
        return False
    if len(names) == 1 and not all(_is_added(form, names[0], points) for form in (a, b)):
        return False

    def row(form: _Form, place: int) -> list[Any]:
        return _linear(form.right, names, place, points)

    rows = _usable(points, (a, b), row)
    if len(rows) < len(names) + 2:
        return False
    does = points.at(0, {})
    size = len(names)
    # The span of `a`, that of `b`, and of both with their difference have the same dimension.
    of_a = []
    of_b = []
    joint = []
    for one, other in rows:
        of_a.append(one[1:])
        of_b.append(other[1:])
        difference = does.add(one[0], does.negate(other[0]))
        joint.append([*one[1:], *other[1:], difference])
    ranks = [rank(part, does, points.is_zero) for part in (of_a, of_b, joint)]
    return ranks == [size, size, size]


def _are_explicit(a: _Form, b: _Form) -> bool:
    forms = (a, b)
    if any(form.left and not form.name for form in forms):
        return False
    return not (a.name and b.name) or same_name(a.name, b.name)


def _is_added(form: _Form, name: str, points: _Points) -> bool:
    """Whether a constant is a term of its own, with no function of the variables before it."""

    def factors(one: _Form, place: int) -> list[Any]:
        does = points.at(place, {name: 0})
        values = [_difference(one, does_at) for does_at in _sizes(place, name, points)]
        return [does.add(values[at + 1], does.negate(values[at])) for at in (0, 1)]

    rows = [row[0] for row in _usable(points, (form,), factors)]
    does = points.at(0, {})
    differences = [does.add(value, does.negate(rows[0][0])) for row in rows for value in row]
    return len(rows) >= _ENOUGH and all(map(points.is_zero, differences))


def _sizes(place: int, name: str, points: _Points) -> list[Any]:
    return [points.at(place, {name: size}) for size in (0, 1, 2, 4)]


def _difference(form: _Form, does: Any) -> Any:
    right = compute(form.right, does)
    return does.add(compute(form.left, does), does.negate(right)) if form.left else right


def _linear(tokens: Tokens, names: Sequence[str], place: int, points: _Points) -> list[Any]:
    """Return what stands without the constants and what each is multiplied by. Raises Unread."""
    nothing = dict.fromkeys(names, 0)
    does = points.at(place, nothing)
    rest = compute(tokens, does)
    factors = []
    for name in names:
        value = compute(tokens, points.at(place, {**nothing, name: 1}))
        factors.append(does.add(value, does.negate(rest)))
    sizes = range(3, 3 + len(names))
    total = rest
    for factor, size in zip(factors, sizes, strict=True):
        total = does.add(total, does.multiply(factor, does.number(size)))
    value = compute(tokens, points.at(place, dict(zip(names, sizes, strict=True))))
    if not points.is_zero(does.add(value, does.negate(total))):
        raise Unread("a constant that does more than multiply")
    return [rest, *factors]


def _same_curves(a: _Form, b: _Form, names: Sequence[str], points: _Points) -> bool:
    """Whether the curves of two equations in two variables are the same, one for each constant."""
    symbols = _symbols(a)
    is_plain = len(symbols) == 2 and symbols == _symbols(b) and symbols <= set(_VARIABLES)
    if len(names) != 1 or not is_plain or not a.left or not b.left:
        return False
    if a.name and b.name and not same_name(a.name, b.name):
        return False
    if (
        a.name
        and b.name
        and _only_multiplies(a, names, points)
        and _only_multiplies(b, names, points)
    ):
        return False
    values = _usable(points, (a, b), lambda form, place: _constant(form, names[0], place, points))
    if len(values) < _ENOUGH:
        return False
    does = points.at(0, {})
    if not any(_is_added(form, names[0], points) for form in (a, b)):
        return _are_plainly_one(values, points)
    # Constants that are a fraction of one another, (pC + q)/(rC + s), keep all cross ratios.
    for four in combinations(values[:_ENOUGH], 4):
        (over, under), (other_over, other_under) = (
            _cross_ratio([pair[side] for pair in four], does) for side in (0, 1)
        )
        if any(points.is_zero(part) for part in (over, under, other_over, other_under)):
            return False
        difference = does.add(
            does.multiply(over, other_under), does.negate(does.multiply(other_over, under))
        )
        if not points.is_zero(difference):
            return False
    return True


def _are_plainly_one(values: Sequence[Sequence[Any]], points: _Points) -> bool:
    """Whether constants are equal, opposite, or one over the other: none has a factor."""
    does = points.at(0, {})
    sums = [does.add(one, other) for one, other in values]
    differences = [does.add(one, does.negate(other)) for one, other in values]
    products = [does.multiply(one, other) for one, other in values]
    above_minus_one = [does.add(product, does.number(1)) for product in products]
    above_one = [does.add(product, does.number(-1)) for product in products]
    alternatives = (sums, differences, above_minus_one, above_one)
    return any(all(map(points.is_zero, numbers)) for numbers in alternatives)


def _only_multiplies(form: _Form, names: Sequence[str], points: _Points) -> bool:
    rows = _usable(
        points, (form,), lambda one, place: compute(one.right, points.at(place, {names[0]: 0}))
    )
    return bool(rows) and all(points.is_zero(row[0]) for row in rows)


def _constant(form: _Form, name: str, place: int, points: _Points) -> Any:
    """Return the constant of the curve through a place: where an equation is solved for it."""
    does = points.at(place, {name: 0})
    # The difference is (pC + q)/(rC + 1): three values give p, q and r, and a fourth agrees.
    zero, one, two, four = (_difference(form, at) for at in _sizes(place, name, points))
    minus_one = does.negate(one)
    curve = does.add(does.add(two, minus_one), does.add(zero, minus_one))
    r: Any = does.number(0)
    if not points.is_zero(curve):
        twice = does.add(does.add(one, one), does.negate(does.add(two, two)))
        r = does.divide(curve, twice)
    p = does.add(does.multiply(one, does.add(r, does.number(1))), does.negate(zero))
    over = does.add(does.multiply(p, does.number(4)), zero)
    under = does.add(does.multiply(r, does.number(4)), does.number(1))
    if not points.is_zero(does.add(over, does.negate(does.multiply(four, under)))):
        raise Unread("an equation that is not solved for its constant")
    return does.divide(does.negate(zero), p)


def _cross_ratio(values: Sequence[Any], does: Any) -> tuple[Any, Any]:
    a, b, c, d = values
    over = does.multiply(does.add(a, does.negate(c)), does.add(b, does.negate(d)))
    return over, does.multiply(does.add(a, does.negate(d)), does.add(b, does.negate(c)))


def _is_followed(a: _Form, b: _Form, kit: Kit, *, is_branch: bool) -> bool | None:
    r"""Whether one is `y = ...` and the other's constant stays the same along its curves.

    One root of two, `y=\sqrt{x^2+C}`, is no `y^2=x^2+C`, unless it `is_branch`.
    """
    for explicit, other in ((a, b), (b, a)):
        head = explicit.left[0].text if explicit.name and explicit.left else ""
        symbols = _symbols(explicit)
        is_plain = len(symbols) == 2 and symbols <= set(_VARIABLES) and head in symbols
        if not is_plain or symbols != _symbols(other) or not other.left:
            continue
        has_root = _EVEN_ROOT.search(" ".join(token.text for token in explicit.right))
        if (has_root and not is_branch) or _is_solved(explicit):
            continue
        if not _is_added_anywhere(other, kit):
            continue
        symbol = (symbols - {head}).pop()
        if all(_stays(list(_followed(explicit, other, head, symbol, kit)))):
            return True if kit.proves else None
    return False


def _is_added_anywhere(form: _Form, kit: Kit) -> bool:
    both = (_Points(None), _Points(kit))
    return any(_holds(lambda points: _is_added(form, "C_1", points), points) for points in both)


def _is_solved(form: _Form) -> bool:
    """Whether an equation can be solved for its constant: then no curve needs to be followed."""
    return _holds(lambda points: bool(_constant(form, "C_1", 0, points)), _Points(None))


def _followed(
    explicit: _Form, other: _Form, head: str, symbol: str, kit: Kit
) -> Iterator[list[Measured]]:
    """Yield the other's constants along each of some curves."""
    for chosen in _CHOSEN:
        constants: list[Measured] = []
        for place in _PLACES[: _ENOUGH + 1]:
            places = {symbol: place, "C_1": Fraction(chosen, 100)}
            try:
                height = compute(explicit.right, _AtValues(kit, places))
                constants.append(
                    _constant(other, "C_1", 0, _OnCurve(kit, {symbol: place}, head, height))
                )
            except (Unread, ArithmeticError, ValueError):
                continue
        if len(constants) >= _FEW:
            yield constants


class _OnCurve(_Points):
    """One place of a curve, where one variable is a number that was computed."""

    def __init__(
        self, kit: Kit, places: Mapping[str, Fraction], head: str, height: Measured
    ) -> None:
        super().__init__(kit)
        self.numbers = kit
        self.places = places
        self.head = head
        self.height = height

    def at(self, place: int, constants: Mapping[str, int]) -> At:
        whole = {name: Fraction(value) for name, value in constants.items()}
        return _AtValues(self.numbers, {**self.places, **whole}, {self.head: self.height})


def _stays(curves: Sequence[Sequence[Measured]]) -> Iterator[bool]:
    """Yield whether constants are one along each curve, and others on other curves."""
    yield len(curves) > 1
    for values in curves:
        yield all(_are_close(value, values[0]) for value in values)
    for one, other in combinations(curves, 2):
        yield not _are_close(one[0], other[0])


def _are_close(a: Measured, b: Measured) -> bool:
    return bool(abs(a.number - b.number) <= 2 * (a.error + b.error))


def _both_branches(a: Shape, b: Shape, count: int, kit: Kit) -> bool | None:
    r"""Compare `y=\pm\sqrt{x^2+C}`, which is read as two answers, with one equation."""
    for group, one in ((a, b), (b, a)):
        form = _form(one)
        if not isinstance(group, Group) or group.opener or len(group.items) != 2 or form is None:
            continue
        upper = _form(group.items[0])
        lower = _form(group.items[1])
        if upper is None or lower is None or count != 1 or not upper.name == lower.name != "":
            continue
        if [t.text for t in upper.right[1:]] != [t.text for t in lower.right[1:]]:
            continue
        signs = upper.right[0].text + lower.right[0].text
        if signs in ("+-", "-+"):
            truths = [_is_followed(branch, form, kit, is_branch=True) for branch in (upper, lower)]
            if False in truths:
                return False
            return None if None in truths else True
    return False
