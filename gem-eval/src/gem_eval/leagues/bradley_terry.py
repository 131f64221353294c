"""Ratings of players by Bradley and Terry's model, with intervals. Knows nothing about episodes.

The chance that `i`, who sits first, beats `j` is the logistic function of `r_i - r_j + h`, where
`h` is what the first seat is worth (Bradley and Terry 1952, Biometrika 39; Davidson and Beaver
1977, Biometrics 33). A draw is half a win.

Each pair that met has a drawn game more, half of it in either order, so that a player who has won
everything has a rating. Intervals are a Bayesian bootstrap over seeds (Rubin 1981, Annals of
Statistics 9): each seed weighs a draw of Gamma(1), and either half of the drawn game one of
Gamma(1/2). Of one pair that plays one game a seed that is Jeffreys' interval.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem_eval.intervals import student
from gem_eval.leagues.games import Floats, Points

__all__ = ["ELO", "Bound", "Fit", "Rating", "Ratings", "chances", "fit", "is_connected", "rate"]

ELO = 400.0 / math.log(10.0)
"""Points of the Elo scale in one unit of log-odds: 400 of them are odds of 10 to 1."""
_MEAN = 1500.0
_DRAWS = 2000
_STEPS = 100
_LONGEST_STEP = 2.0
_CLOSE = 1e-9

Bound = float | None


class Fit(NamedTuple):
    """Ratings in log-odds, of shape (..., players), whose mean is 0, and the first seat's worth."""

    ratings: Floats
    first: Floats


class Rating(NamedTuple):
    """A rating on the Elo scale, and its 95% interval.

    A bound is None where the games set none: who lost nothing to the rest may be any better, and
    a first seat that lost nothing worth any more.
    """

    value: float
    low: Bound
    high: Bound


class Ratings(NamedTuple):
    """The rating of each player, their mean 1500, and what the first seat is worth in points.

    `has_intervals` is False where all games are of one seed, which shows no spread.
    """

    players: tuple[Rating, ...]
    first_seat: Rating
    has_intervals: bool


def rate(points: Points) -> Ratings:
    """Rate players by the points that they took from each other. Deterministic.

    Every player must be reached from every other over pairs that met: see `is_connected`.
    """
    half_game = _half_games(points)
    fitted = fit(points.games.sum(axis=0) + half_game, points.taken.sum(axis=0) + half_game / 2)
    values = _MEAN + ELO * fitted.ratings
    first = float(ELO * fitted.first)
    seeds = len(points.games)
    if seeds < 2:
        unknown = tuple(Rating(float(value), None, None) for value in values)
        return Ratings(unknown, Rating(first, None, None), False)
    drawn = _drawn(points, half_game)
    # Few seeds do not say how far seeds differ.
    wider = student(seeds - 1) / student(100_000) * math.sqrt((seeds + 1) / seeds)
    low, high = _widened(values, _MEAN + ELO * drawn.ratings, wider)
    open_above, open_below = _open(points)
    players = tuple(
        Rating(
            float(values[player]),
            None if open_below[player] else float(low[player]),
            None if open_above[player] else float(high[player]),
        )
        for player in range(len(values))
    )
    first_low, first_high = _widened(np.array(first), ELO * drawn.first, wider)
    first_seat = Rating(
        first,
        None if _is_first_open(points, -1.0) else float(first_low),
        None if _is_first_open(points, 1.0) else float(first_high),
    )
    return Ratings(players, first_seat, True)


def fit(games: Floats, taken: Floats) -> Fit:
    """Return the ratings of greatest likelihood, by Newton's method.

    Arrays of shape (..., players, players) as `Points` has them of one seed: `games[i, j]` with `i`
    at the lower seat. They may be weighted; `taken` lies strictly between 0 and `games` for enough
    pairs that there is a greatest one, which a drawn game of each pair makes sure of.
    """
    players = games.shape[-1]
    ratings: Floats = np.zeros(games.shape[:-1])
    first: Floats = np.zeros(games.shape[:-2])
    for _ in range(_STEPS):
        chance = chances(ratings, first)
        rest = taken - games * chance
        spread = games * chance * (1.0 - chance)
        gradient = np.concatenate(
            [
                rest.sum(axis=-1) - rest.sum(axis=-2),
                rest.sum(axis=(-1, -2))[..., None],
            ],
            axis=-1,
        )
        step: Floats = np.linalg.solve(_curvature(spread), gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True)
        # From far away a whole step may lead beyond the summit.
        damped: Floats = step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _CLOSE))
        ratings = ratings + damped[..., :players]
        first = first + damped[..., players]
        if float(longest.max()) < _CLOSE:
            break
    return Fit(ratings - ratings.mean(axis=-1, keepdims=True), first)


def chances(ratings: Floats, first: Floats) -> Floats:
    """Return the chance that `i` at the lower seat beats `j`, of shape (..., players, players)."""
    difference = ratings[..., :, None] - ratings[..., None, :] + first[..., None, None]
    chance: Floats = 1.0 / (1.0 + np.exp(-np.clip(difference, -500.0, 500.0)))
    return chance


def is_connected(points: Points) -> bool:
    """Say whether every player is reached from every other over pairs that met."""
    return bool(_reached(points.met > 0).all())


def _curvature(spread: Floats) -> Floats:
    """Return the negative second derivatives, by players and then the first seat's worth.

    Only differences of ratings matter, so the sum of all is held where it is.
    """
    players = spread.shape[-1]
    curvature = np.zeros((*spread.shape[:-2], players + 1, players + 1))
    by_pair = spread + np.swapaxes(spread, -1, -2)
    own = np.arange(players)
    curvature[..., :players, :players] = 1.0 - by_pair
    curvature[..., own, own] += by_pair.sum(axis=-1)
    mixed = spread.sum(axis=-1) - spread.sum(axis=-2)
    curvature[..., :players, players] = mixed
    curvature[..., players, :players] = mixed
    # Where all is decided nothing bends any more, and the step would have no length.
    curvature[..., players, players] = spread.sum(axis=(-1, -2)) + 1e-12
    return curvature


def _half_games(points: Points) -> Floats:
    """Return the drawn games that each pair which met has more, half of one in either order."""
    return (points.met > 0).astype(np.float64) / 2


def _drawn(points: Points, half_game: Floats) -> Fit:
    """Return ratings under weights that are drawn anew each time, of shape (draws, players)."""
    rng = np.random.default_rng(0)
    seeds, players, _ = points.games.shape
    weights = rng.standard_gamma(1.0, size=(_DRAWS, seeds))
    shape = (_DRAWS, players, players)
    # Over both orders of a pair: half a game won, and half a game lost.
    won = rng.standard_gamma(0.25, size=shape) * (half_game > 0)
    lost = rng.standard_gamma(0.25, size=shape) * (half_game > 0)
    games = (weights @ points.games.reshape(seeds, -1)).reshape(shape)
    taken = (weights @ points.taken.reshape(seeds, -1)).reshape(shape)
    # A draw of Gamma(1/4) may be 0 to all digits, and a rating without an end.
    least = 1e-12 * (half_game > 0)
    return fit(games + won + lost + 2 * least, taken + won + least)


def _widened(value: Floats, drawn: Floats, wider: float) -> tuple[Floats, Floats]:
    """Return the central 95% of what was drawn, as far again from the value as `wider` says."""
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    least: Floats = np.minimum(value, value + wider * (low - value))
    most: Floats = np.maximum(value, value + wider * (high - value))
    return least, most


def _open(points: Points) -> tuple[list[bool], list[bool]]:
    """Say of each player whether its rating has no upper bound, and whether it has no lower one.

    Those who took points off a player, off those in turn, and so on, may all be raised together:
    unless that is everybody, nobody outside ever took anything off them.
    """
    off = _reached(points.won > 0)
    above = [not off[:, player].all() for player in range(len(off))]
    below = [not off[player].all() for player in range(len(off))]
    return above, below


def _is_first_open(points: Points, step: float) -> bool:
    """Say whether the first seat's worth has no upper bound, for a step of 1; of -1 no lower one.

    It has none if the worth can go on by such a step, and ratings with it, without a game becoming
    less likely: `r_i - r_j + h` must not fall where `i` sat first and took points off `j`, and
    must not rise where it left some. Each says how far `j` may rise above `i`, or `i` above `j`.
    All of that can be met unless a circle of players would have to rise above themselves by less
    than nothing.
    """
    games = points.games.sum(axis=0)
    taken = points.taken.sum(axis=0)
    rise = np.where(taken > 0, step, np.inf)  # rise[i, j]: how far `j` may rise above `i`
    rise = np.minimum(rise, np.where(taken < games, -step, np.inf).T)
    for middle in range(len(rise)):  # Floyd 1962, the least over all ways
        rise = np.minimum(rise, rise[:, middle, None] + rise[None, middle, :])
    return bool((np.diagonal(rise) >= 0).all())


def _reached(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say of each two whether a way of edges leads from the one to the other."""
    reached = edges | np.eye(len(edges), dtype=bool)
    for middle in range(len(edges)):  # Warshall 1962
        reached = reached | (reached[:, middle, None] & reached[None, middle, :])
    return reached
