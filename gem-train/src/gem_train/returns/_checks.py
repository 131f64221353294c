"""What may be given to the functions of this package, and how a misfit is refused."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gem.errors import BadArguments, in_one_line

Floats = NDArray[Any]
Labels: TypeAlias = ArrayLike | Sequence[Hashable]
"""What names the group or the episode of each number: equal names are of one."""


def numbers(name: str, values: ArrayLike) -> Floats:
    """Return finite numbers in one dimension; a floating type is kept, any other is float64."""
    return counted_numbers(name, values, None)[0]


def counted_numbers(
    name: str, values: ArrayLike, mask: ArrayLike | None
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return numbers as `numbers` does, and which of them count.

    Those that do not may be anything but finite: NaN, or None, which is NaN among floats.
    """
    found = _array(name, values)
    if found.dtype.kind == "c":
        raise unfit(f"{name} holds complex numbers, and must hold real ones")
    if found.dtype.kind != "f":
        found = _array(name, found, np.float64)
    check_dimensions(name, found)
    counts = counted(mask, len(found))
    is_unfit = counts & ~np.isfinite(found)
    if is_unfit.any():
        place = int(is_unfit.argmax())
        raise unfit(f"{name} holds a number that is not finite ({found[place]} at {place})")
    return found, counts


def _array(name: str, values: Any, dtype: Any = None) -> NDArray[Any]:
    """Return an array of what was given. Raises BadArguments where numpy makes none."""
    try:
        return np.asarray(values, dtype)
    except (TypeError, ValueError, RuntimeError) as error:
        # The tensors of torch are numpy's only on the CPU, without a gradient, in numpy's types.
        pieces = values if isinstance(values, (list, tuple)) else [values]
        if any(hasattr(piece, "detach") for piece in pieces):
            raise unfit(
                f"{name} is of tensors that numpy cannot read ({in_one_line(error, at_most=120)}), "
                "and must be of numbers: give each as tensor.detach().float().cpu()"
            ) from error
        raise unfit(f"{name} holds what is no number") from error


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
    except (TypeError, ValueError, RuntimeError):
        # A tuple beside something else is no array, and some tensors of torch are none.
        return np.empty(len(values), object)


def _numbered(names: Any) -> NDArray[np.int64]:
    """Return the number of each name, from 0 on; equal names have one number.

    Raises TypeError for what cannot be hashed.
    """
    names = [_by_value(name) for name in names]
    distinct = list(dict.fromkeys(names))
    # In the order of an array of them, where they have one: sums then add up in the same order.
    with suppress(TypeError):
        distinct.sort()
    numbers_of = {each: number for number, each in enumerate(distinct)}
    return np.array([numbers_of[each] for each in names], np.int64)


def _by_value(name: Any) -> Any:
    """Return a name as what is equal where its value is: a tensor's hash is that of the object.

    Raises TypeError for an array of more than one name.
    """
    num_dimensions = getattr(name, "ndim", None) if hasattr(name, "__array__") else None
    if num_dimensions:
        raise TypeError(f"an array of {num_dimensions} dimensions")
    return name if num_dimensions is None else name.item()


def counted(mask: ArrayLike | None, wanted: int) -> NDArray[np.bool_]:
    """Return which of the numbers count: all of them where there is no mask."""
    if mask is None:
        return np.ones(wanted, bool)
    found = _array("mask", mask, bool)
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
    """Return float64 numbers in the floating type that came in.

    Raises BadArguments where it cannot hold them.
    """
    with np.errstate(over="ignore"):  # what it warns of is an error here
        found = values.astype(original.dtype)
    if not np.isfinite(found).all():
        raise unfit(
            f"What was computed is beyond {found.dtype}, the type of the numbers that were given: "
            "give smaller numbers, or a wider type"
        )
    return found


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
