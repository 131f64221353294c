"""What may be given to the functions of this package, and how a misfit is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gem.errors import BadArguments

Floats = NDArray[Any]


def numbers(name: str, values: ArrayLike) -> Floats:
    """Return finite numbers in one dimension; a floating type is kept, any other is float64."""
    found = np.asarray(values)
    found = found if found.dtype.kind == "f" else found.astype(np.float64)
    check_dimensions(name, found)
    if not np.isfinite(found).all():
        raise unfit(f"{name} holds a number that is not finite")
    return found


def labels(name: str, values: ArrayLike, wanted: int) -> NDArray[Any]:
    """Return names of any type in one dimension, one for each of the numbers."""
    found = np.asarray(values)
    check_length(name, found, wanted)
    check_dimensions(name, found)
    return found


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
