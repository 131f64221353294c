r"""Read a set by what holds for its members, `\{x \mid x > 3\}`. Knows nothing about other sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.reading.intervals import as_set, solved_for
from gem_envs_math.grading.reading.shapes import Group, Relation, Shape, Unions
from gem_envs_math.grading.text.parameters import without_integers
from gem_envs_math.grading.text.tokens import Token

__all__ = ["read_described"]

Tokens = Sequence[Token]

_POINTS = re.compile(
    r"(\( [a-z](?: , [a-z])+ \))(?: \\in \\mathbb \{ R \} \^ (?:[23]|\{ [23] \}))? [|:] "
)


def read_described(inside: Tokens, read: Callable[[Tokens], Shape]) -> Shape | None:
    r"""Read the set of all x with a property: `x \mid x > 3`, `x \in \mathbb{R} : x > 3`.

    `inside` is what stands between the braces, and `read` reads the property. None where it is no
    set of that kind.
    """
    texts = [token.text for token in inside]
    if texts[:1] == ["("]:
        return _described_points(inside, texts, read)
    has_domain = texts[1:4] == ["\\in", "\\mathbb", "{"] and texts[5:6] == ["}"]
    start = 6 if has_domain else 1
    if len(texts) <= start + 2 or texts[start] not in ("|", ":"):
        return None
    held = _bound(read(without_integers(inside[start + 1 :])), texts[0])
    if not has_domain or texts[4] == "R":
        return held
    if not isinstance(held, (Group, Unions)):
        raise Unread("a set of some numbers by a condition that is no interval")
    return Group(f"\\{{{texts[4]}", "\\}", (held,))  # brackets of its own: it is no interval


def _described_points(
    inside: Tokens, texts: list[str], read: Callable[[Tokens], Shape]
) -> Group | None:
    r"""Read the set of all points with a property: `(x,y) \mid x^2+y^2 \le 1`."""
    match = _POINTS.match(" ".join(texts[:20]))
    start = len(match[0].split()) if match else len(texts)
    if match is None or start >= len(texts):
        return None
    held = read(inside[start:])
    return Group(f"\\{{{match[1]}", "\\}", (held,))  # brackets of its own: it is no relation


def _bound(shape: Shape, symbol: str) -> Shape:
    r"""Return what holds for a bound symbol without its name: `\{t \mid t > 3\}` is (3, oo)."""
    parts = shape.parts if isinstance(shape, Unions) else (shape,)
    sets = [as_set(part) for part in parts if isinstance(part, Relation)]
    known_sets = [values for values in sets if values is not None]
    if solved_for(shape) not in (None, symbol):
        raise Unread("a set of one symbol by a condition on another")
    if solved_for(shape) is None or len(known_sets) != len(parts):
        return shape
    return known_sets[0] if len(parts) == 1 else Unions(tuple(known_sets))
