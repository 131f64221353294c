"""What an answer can be: a number, a list, an interval, a matrix, an equation, words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Union

from gem_envs_math.grading.arithmetic.field import Value
from gem_envs_math.grading.text.tokens import Token
from gem_envs_math.grading.units.measures import Unit

__all__ = [
    "Applied",
    "Based",
    "Choice",
    "Clock",
    "Group",
    "Matrix",
    "Named",
    "Pieces",
    "Ratio",
    "Relation",
    "Residue",
    "Scalar",
    "Shape",
    "Unions",
    "Words",
]


class Scalar(NamedTuple):
    """An expression: its value, whether unequal values prove nothing, and what it came from.

    `label` are the words after a number that are no unit, in small letters: `boys`.
    """

    value: Value
    is_opaque: bool
    unit: Unit | None
    scale: int
    tokens: Sequence[Token]
    label: str = ""


class Group(NamedTuple):
    r"""A list: its brackets ("(", "[", "\\{", "<<" and their partners, "" for none) and items.

    "or" closes what has no brackets and holds values of several symbols, one or the other, or
    equations and inequalities.
    """

    opener: str
    closer: str
    items: tuple[Shape, ...]


class Matrix(NamedTuple):
    """A matrix, row by row."""

    rows: tuple[tuple[Shape, ...], ...]


class Unions(NamedTuple):
    """A union of intervals and sets."""

    parts: tuple[Shape, ...]


class Named(NamedTuple):
    r"""An answer with a name, `x = 5`, `f(x) = 2x` or `x \in [0, 1]`, and the tokens of it all."""

    name: str
    values: tuple[Shape, ...]
    tokens: Sequence[Token]


class Relation(NamedTuple):
    """An equation or an inequality: its sides' tokens, and the signs between them."""

    sides: tuple[Sequence[Token], ...]
    signs: tuple[str, ...]


class Based(NamedTuple):
    """A number in a base that stands below it: `1011_2`. The digits without the sign."""

    digits: str
    base: int
    is_negative: bool


class Choice(NamedTuple):
    """A letter of a multiple choice with what it stands for: `(E) 42`."""

    letter: str
    meaning: Shape


class Clock(NamedTuple):
    """A time of day; `half` is "a", "p" or "" where it is not said.

    `may_be_ratio` says that it is spelled as a ratio may be as well: `5:12`, and no `5:07`.
    """

    hour: int
    minute: int
    half: str
    may_be_ratio: bool


class Ratio(NamedTuple):
    """Numbers with colons between them: `3:1`."""

    parts: tuple[Scalar, ...]


class Pieces(NamedTuple):
    """A function in pieces: a value and the condition under which it is taken, for each piece."""

    parts: tuple[tuple[Shape, Shape], ...]


class Residue(NamedTuple):
    r"""A number modulo another: `3 \pmod 7`."""

    value: Scalar
    modulus: Scalar


class Applied(NamedTuple):
    """A point with its name or a distribution: `P(1,2)`, `N(0,1)`."""

    head: str
    arguments: Shape


class Words(NamedTuple):
    r"""An answer in words, without looks: small letters, single spaces.

    `is_plain` says that there is no `\text` and no word of capitals: it may be a product.
    """

    text: str
    is_plain: bool


Shape = Union[
    Applied,
    Scalar,
    Group,
    Matrix,
    Unions,
    Named,
    Relation,
    Based,
    Choice,
    Clock,
    Pieces,
    Ratio,
    Residue,
    Words,
]
