"""What may be given to the functions of this package, and how a misfit is refused."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gem.errors import BadArguments

Floats = NDArray[Any]
Labels: TypeAlias = ArrayLike | Sequence[Hashable]
"""What names the group or the episode of each number: equal names are of one."""


def numbers(name: str, values: ArrayLike) -> Floats:
    """Return finite numbers in one dimension; a floating type is kept, any other is float64."""
    try:
        found = np.asarray(values)
        found = found if found.dtype.kind == "f" else found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise unfit(f"{name} holds what is no number") from error
    check_dimensions(name, found)
    if not np.isfinite(found).all():
        raise unfit(f"{name} holds a number that is not finite")
    return found


def labels(name: str, values: Labels, wanted: int) -> NDArray[Any]:
    """Return a label for each of the numbers, in one dimension: equal where the names are.

    Names are of any type that Python can hash, several types at once too, and an array is as it is.
    """
    try:
        check_length(name, values, wanted)
    except TypeError as error:  # it has no length
        problem = f"{name} is {values!r:.60}, and must have an entry for each of the numbers"
        raise unfit(problem) from error
    found = _as_array(values)
    # An array of a list is exact for integers alone: it makes texts of 1 and '1', floats of
    # integers beyond 64 bits, and rows of tuples.
    is_exact = hasattr(values, "__array__") or (found.dtype.kind in "iub" and found.ndim == 1)
    if found.dtype.kind == "O" or not is_exact:
        try:
            found = _numbered(values)
        except TypeError as error:
            check_dimensions(name, found)  # rows of lists have two
            raise unfit(f"{name} holds what is no label ({error})") from error
    check_dimensions(name, found)
    return found


def _as_array(values: Any) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:  # a tuple beside something else is no array
        return np.empty(len(values), object)


def _numbered(names: Any) -> NDArray[np.int64]:
    """Return the number of each name, from 0 on; equal names have one number.

    Raises TypeError for what cannot be hashed.
    """
    distinct = list(dict.fromkeys(names))
    # In the order of an array of them, where they have one: sums then add up in the same order.
    with suppress(TypeError):
        distinct.sort()
    numbers_of = {each: number for number, each in enumerate(distinct)}
    return np.array([numbers_of[each] for each in names], np.int64)


def counted(mask: ArrayLike | None, wanted: int) -> NDArray[np.bool_]:
    """Return which of the numbers count: all of them where there is no mask."""
    if mask is None:
        return np.ones(wanted, bool)
    found = np.asarray(mask, bool)
    check_length("mask", found, wanted)
    check_dimensions("mask", found)
    return found


def check_share(name: str, value: float) -> None:
    """Refuse what is not from 0 to 1."""
    if not 0.0 <= value <= 1.0:
        raise unfit(f"{name} is {value}, and must be from 0 to 1")


def check_dimensions(name: str, values: NDArray[Any]) -> None:
    """Refuse what is not a row."""
    if values.ndim != 1:
        raise unfit(f"{name} has {values.ndim} dimensions, and must have one")


def check_length(name: str, values: Any, wanted: int) -> None:
    """Refuse a column that has not an entry for each number."""
    if len(values) != wanted:
        raise unfit(f"{name} has {len(values)} entries, and there are {wanted} to go with them")


def in_dtype_of(values: NDArray[np.float64], original: Floats) -> Floats:
    """Return float64 numbers in the floating type that came in."""
    return values.astype(original.dtype)


def eps_of(values: Floats) -> float:
    """Return the relative rounding of the type that numbers came in."""
    return float(np.finfo(values.dtype).eps)


def at_their_places(
    found: NDArray[np.float64], counts: NDArray[np.bool_], original: Floats
) -> Floats:
    """Return what was found for the numbers that count, 0 for the others, in the original type."""
    advantages = np.zeros(len(counts))
    advantages[counts] = found
    return in_dtype_of(advantages, original)


def unfit(problem: str) -> BadArguments:
    """Return the error that says in one line what does not fit."""
    return BadArguments(f"{problem}.", subject="returns", problems=[problem])
