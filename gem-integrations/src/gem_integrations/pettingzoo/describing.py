"""Write an observation of a Gymnasium space as text. Knows nothing about games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Space

__all__ = ["MOST_NUMBERS", "described", "numbers_in"]

MOST_NUMBERS = 10_000
"""A game whose observation has more numbers than this is not for reading: images."""
_MOST_SHOWN = 400  # of a larger array only what is not 0 is shown
_EMPTY = "."


def described(value: Any) -> str:
    """Return a value of a space as text: numbers, rows of numbers, names with what they hold.

    An array of three axes is shown plane by plane, its shortest axis counting the planes; where
    each cell is 1 in one plane at most, as boards are, it is one board with the planes' numbers.

    >>> print(described(np.array([[[1, 0], [0, 0]], [[0, 1], [0, 0]]])))
    Each cell has the number of the plane that is 1 there, or "." for none:
    0 .
    1 .
    >>> print(described({"cards": (1, 2), "pot": np.float32(2.5)}))
    cards: 1; 2
    pot: 2.5
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(_named(str(name), described(part)) for name, part in value.items())
    if isinstance(value, (tuple, list)):
        return "; ".join(described(part) for part in value)
    array = np.asarray(value)
    if array.dtype == object:
        return str(value)
    return _array(array)


def numbers_in(space: Space[Any]) -> int:
    """Return how many numbers an observation of a space has, 0 where the space does not say."""
    parts: Any = getattr(space, "spaces", None)
    if isinstance(parts, Mapping):
        parts = parts.values()
    if parts is not None:
        return sum(map(numbers_in, parts))
    return int(np.prod(space.shape)) if space.shape else 0


def _named(name: str, text: str) -> str:
    return f"{name}:\n{text}" if "\n" in text else f"{name}: {text}"


def _array(array: np.ndarray[Any, Any]) -> str:
    if array.ndim == 0:
        return _number(array.item())
    if array.size > _MOST_SHOWN:
        return _entries(array)
    if array.ndim == 1:
        return _row(array)
    if array.ndim == 2:
        return "\n".join(map(_row, array))
    if array.ndim == 3:
        return _planes(np.moveaxis(array, _axis_of_planes(array), 0))
    return _entries(array)


def _axis_of_planes(array: np.ndarray[Any, Any]) -> int:
    """Return the shorter one of the first and the last axis: libraries put planes in either."""
    return 0 if array.shape[0] < array.shape[2] else 2


def _planes(planes: np.ndarray[Any, Any]) -> str:
    is_board = np.isin(planes, (0, 1)).all() and (planes.sum(axis=0, dtype=np.int64) <= 1).all()
    if is_board and len(planes) > 1:
        first = 'Each cell has the number of the plane that is 1 there, or "." for none:'
        return "\n".join([first, *_board(planes)])
    parts = []
    for number, plane in enumerate(planes):
        parts.append(f"Plane {number}:")
        parts += map(_row, plane)
    return "\n".join(parts)


def _board(planes: np.ndarray[Any, Any]) -> Iterable[str]:
    """Return the rows of cells, each as wide as the longest number of a plane."""
    width = len(str(len(planes) - 1))
    holders = np.where(planes.any(axis=0), planes.argmax(axis=0), -1)
    for row in holders:
        cells = (_EMPTY if plane < 0 else str(plane) for plane in row.tolist())
        yield " ".join(cell.rjust(width) for cell in cells)


def _entries(array: np.ndarray[Any, Any]) -> str:
    """Return what is not 0 of a large array, each entry with its place."""
    shape = " x ".join(map(str, array.shape))
    places = np.argwhere(array)
    entries = [
        f"{tuple(place)}: {_number(array[tuple(place)].item())}" for place in places.tolist()
    ]
    return f"An array of {shape}, 0 but for {', '.join(entries) or 'nothing'}"


def _row(row: np.ndarray[Any, Any]) -> str:
    return " ".join(map(_number, row.tolist()))


def _number(number: Any) -> str:
    if isinstance(number, bool):
        return str(int(number))
    return f"{number:.6g}" if isinstance(number, float) else str(number)
