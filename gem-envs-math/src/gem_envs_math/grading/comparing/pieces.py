"""Compare functions in pieces: in any order, and where `otherwise` is what is left of a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gem_envs_math.grading.comparing.matching import match
from gem_envs_math.grading.comparing.unions import merged
from gem_envs_math.grading.reading.intervals import as_set, solved_for
from gem_envs_math.grading.reading.number_sets import reals
from gem_envs_math.grading.reading.shapes import Group, Pieces, Relation, Shape, Unions, Words

__all__ = ["same_pieces"]

_OTHERWISE = Words("otherwise", is_plain=False)

Piece = tuple[Shape, Shape]


def same_pieces(
    a: Pieces, b: Pieces, same: Callable[[Sequence[Shape], Sequence[Shape]], bool | None]
) -> bool | None:
    """Whether two functions have the same pieces; `same` compares values and conditions."""
    truth = match(a.parts, b.parts, same)
    if truth is True:
        return truth
    for one, other in ((a, b), (b, a)):
        has_rest = any(condition == _OTHERWISE for _, condition in one.parts)
        if has_rest and _cover_all(other):
            truths = [match(one.parts, parts, same) for parts in _with_rest(other)]
            if True in truths:
                return True
            truth = None if None in truths else truth
    return truth


def _with_rest(a: Pieces) -> list[tuple[Piece, ...]]:
    """Return the pieces with each one's condition in turn called `otherwise`."""
    parts = a.parts
    return [(*parts[:at], (parts[at][0], _OTHERWISE), *parts[at + 1 :]) for at in range(len(parts))]


def _cover_all(a: Pieces) -> bool:
    """Whether the conditions, all on one symbol, hold for all real numbers together."""
    conditions = [condition for _, condition in a.parts]
    if len({solved_for(condition) for condition in conditions}) != 1:
        return False
    sets = [as_set(condition) for condition in conditions if isinstance(condition, Relation)]
    ranges: list[Shape] = []
    for values in sets:
        if isinstance(values, Unions):
            ranges.extend(values.parts)
        elif values:
            ranges.append(values)
    whole = merged(ranges)
    if len(sets) < len(conditions) or len(whole) != 1 or not isinstance(whole[0], Group):
        return False
    ends = [_text(item) for item in whole[0].items]
    return ends == [_text(item) for item in reals().items]


def _text(shape: Shape) -> str:
    return "".join(token.text for token in getattr(shape, "tokens", ()))
