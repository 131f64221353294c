"""Means and deviations of cells: numbers that are compared with one another.

A cell is a group, a group at one turn index, or a whole batch. Every function sorts at most,
however many cells there are. Knows nothing about what the cells mean.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAST_STD = 1e-8
"""A spread below this is rounding: its numbers are taken as equal, and their advantages as 0."""

ROUNDINGS = 8.0
"""A spread below so many roundings of the mean, in the type that came in, is rounding as well."""

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


class Cells(NamedTuple):
    """The cell of each number, from 0 on; how many numbers each cell has; its first number.

    `of` has shape (numbers,), `sizes` and `firsts` have shape (cells,); `firsts` holds places.
    """

    of: Integers
    sizes: Integers
    firsts: Integers


def cells_of(names: NDArray[Any]) -> Cells:
    """Return the cells that names make: equal names are of one cell."""
    _, firsts, of, sizes = np.unique(
        names, return_index=True, return_inverse=True, return_counts=True
    )
    return Cells(of.astype(np.int64), sizes.astype(np.int64), firsts.astype(np.int64))


def crossed(rows: Cells, columns: Integers) -> Cells:
    """Return the cells of those that agree in both: in a cell of `rows`, and in a number."""
    width = int(columns.max(initial=0)) + 1
    return cells_of(rows.of * width + columns)


def places_within(cells: Cells) -> Integers:
    """Return how many numbers of its own cell come before each: 0, 1, 2, ... in order."""
    order = np.argsort(cells.of, kind="stable")
    starts = np.cumsum(cells.sizes) - cells.sizes
    places = np.empty(len(cells.of), np.int64)
    places[order] = np.arange(len(order)) - np.repeat(starts, cells.sizes)
    return places


def sums(values: Numbers, cells: Cells) -> Numbers:
    """Return the sum of each cell."""
    return np.asarray(np.bincount(cells.of, values, len(cells.sizes)), np.float64)


def means(values: Numbers, cells: Cells) -> Numbers:
    """Return the mean of each cell, which is its very number where all of them are equal."""
    firsts = values[cells.firsts]
    # Relative to the first: differences of equal numbers are exact zeros, where the mean of equal
    # numbers may differ from each of them by rounding.
    return firsts + sums(values - firsts[cells.of], cells) / cells.sizes


def centred(values: Numbers, cells: Cells) -> Numbers:
    """Return each number less the mean of its cell: exact zeros in a cell of equal numbers."""
    return values - means(values, cells)[cells.of]


def standardised(values: Numbers, cells: Cells, *, eps: float) -> Numbers:
    """Return numbers centred and divided by the deviation of their cell, the population's."""
    cell_means = means(values, cells)
    less_mean = values - cell_means[cells.of]
    # In a second pass over centred numbers: a difference of squares would lose their digits.
    stds = np.sqrt(sums(less_mean**2, cells) / cells.sizes)
    return scaled(less_mean, stds[cells.of], cell_means[cells.of], eps=eps)


def scaled(less_mean: Numbers, stds: Numbers, their_means: Numbers, *, eps: float) -> Numbers:
    """Return each number over its deviation, and 0 where the deviation is only rounding.

    `their_means` are those of the numbers that each deviation is of: what is equal up to rounding
    is as large as its mean. `eps` is the relative rounding of the type that they came in.
    """
    least: Numbers = np.maximum(LEAST_STD, ROUNDINGS * eps * np.abs(their_means))
    is_spread = stds >= least
    found: Numbers = np.where(is_spread, less_mean, 0.0) / np.where(is_spread, stds, 1.0)
    return found
