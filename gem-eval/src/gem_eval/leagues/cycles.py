"""Whether one number can rank players: the cyclic part of who beats whom, and a test for cycles.

The log-odds of all pairs are a flow on the graph of players. It is the sum of a part that ratings
explain, and of a cyclic part that no rating can (Jiang, Lim, Yao and Ye 2011, Statistical ranking
and combinatorial Hodge theory, Mathematical Programming 127). Chance alone has a cyclic part, and
so have many draws among players who differ a lot: that share is a figure, and a test decides.

The test asks whether three players go round in a circle, each ahead of the next. Say that the first
is ahead of the second by `x` points a game, the second of the third by `y`, and the third of the
first by `z`. If a better player does at least as well against everybody, as under any rating,
whatever curve makes chances of its differences (strong stochastic transitivity: Davidson and
Marschak 1959), then one of `x + y`, `y + z` and `z + x` is 0 or less, whoever is the best. So a
circle is as sure as the least sure of its three sums, counted once for each circle that there might
be (Bonferroni), whatever the games of one seed have in common.

A sum is tested by turning the signs of whole seeds: where it is 0, the points of a seed above it
are as likely as below (Fisher 1935, The Design of Experiments, section 21). All turns are counted,
so nothing is drawn.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem_eval.leagues.games import Floats, Points

__all__ = ["FALSE_ALARMS", "Cycle", "Cycles", "cycles_of", "seeds_needed"]

FALSE_ALARMS = 0.01
"""At most so often a league is flagged whose players can be ranked."""


class Cycle(NamedTuple):
    """Three players, each ahead of the next, and the last of the first: with which shares."""

    players: tuple[int, int, int]
    shares: tuple[float, float, float]


class Cycles(NamedTuple):
    """The cyclic part of a league.

    `share` is that of the squared log-odds, from 0 to 1; None where there can be no cycle, as of
    two players. `p_value` bounds the chance of so sure a cycle under any rating; it is 1 where
    nobody is ahead all the way round. `surest` is that cycle.
    """

    share: float | None
    p_value: float | None
    surest: Cycle | None

    @property
    def is_alarm(self) -> bool:
        """Whether one number cannot rank these players."""
        return self.p_value is not None and self.p_value < FALSE_ALARMS


def cycles_of(points: Points) -> Cycles:
    """Return the cyclic part of who beats whom, and its test. Deterministic.

    >>> rock_paper_scissors = np.tile([[0, 0, 1], [1, 0, 0], [0, 1, 0]], (20, 1, 1))
    >>> cycles_of(Points(np.ones((20, 3, 3)) - np.eye(3), rock_paper_scissors)).is_alarm
    True
    """
    met = points.met
    pairs = np.argwhere(np.triu(met, 1) > 0)
    if len(pairs) <= _explained(pairs, len(met)):
        return Cycles(None, None, None)
    surest, doubt = _surest(points)
    circles = 2 * math.comb(len(met), 3)
    return Cycles(_share(points, pairs), min(1.0, circles * doubt), surest)


def seeds_needed(players: int) -> int:
    """Return how many seeds it takes at least to show a cycle, where every two players meet.

    >>> seeds_needed(3), seeds_needed(10)
    (8, 15)
    """
    seeds = 1
    while 2 * math.comb(players, 3) * 0.5**seeds >= FALSE_ALARMS:
        seeds += 1
    return seeds


def _explained(pairs: NDArray[np.int64], players: int) -> int:
    """Return how many pairs ratings explain whatever they are: as many as a forest has edges."""
    if not len(pairs):
        return 0
    return int(np.linalg.matrix_rank(_edges(pairs, players)))


def _edges(pairs: NDArray[np.int64], players: int) -> Floats:
    """Return what a rating does to each pair, of shape (pairs, players): 1, -1 and 0."""
    edges = np.zeros((len(pairs), players))
    rows = np.arange(len(pairs))
    edges[rows, pairs[:, 0]] = 1.0
    edges[rows, pairs[:, 1]] = -1.0
    return edges


def _share(points: Points, pairs: NDArray[np.int64]) -> float:
    """Return the cyclic share of the squared flow, where a pair weighs as much as it has games.

    Each pair has half a win more on either side, so that its log-odds are finite (Haldane 1956).
    """
    games = points.met[pairs[:, 0], pairs[:, 1]]
    won = points.won[pairs[:, 0], pairs[:, 1]]
    weights = np.sqrt(games)
    flow = weights * np.log((won + 0.5) / (games - won + 0.5))
    edges = weights[:, None] * _edges(pairs, points.games.shape[1])
    ratings = np.linalg.lstsq(edges, flow, rcond=None)[0]
    whole = float((flow**2).sum())
    cyclic = float(((flow - edges @ ratings) ** 2).sum())
    return 0.0 if whole < 1e-12 else min(max(cyclic / whole, 0.0), 1.0)


def _surest(points: Points) -> tuple[Cycle | None, float]:
    """Return the surest cycle, and the p-value of the least sure of its sums. 1 where is none."""
    met = points.met
    share = points.won / np.maximum(met, 1.0)
    # In half points, so that all sums are whole numbers; of shape (seeds, players, players).
    above = np.rint(2 * points.taken - points.games).astype(np.int64)
    lead = above - np.swapaxes(above, 1, 2)
    is_level = (met > 0) & (share >= 0.5)
    surest = None
    least = 1.0
    for first, second, third in combinations(range(len(met)), 3):
        for circle in ((first, second, third), (first, third, second)):
            links = [(circle[0], circle[1]), (circle[1], circle[2]), (circle[2], circle[0])]
            if not all(is_level[link] for link in links):
                continue
            doubt = max(
                _doubt(lead[:, one[0], one[1]], met[one], lead[:, other[0], other[1]], met[other])
                for one, other in combinations(links, 2)
            )
            if doubt < least:
                least = doubt
                shares = [float(share[link]) for link in links]
                surest = Cycle(circle, (shares[0], shares[1], shares[2]))
    return surest, least


def _doubt(
    one: NDArray[np.int64], one_games: float, other: NDArray[np.int64], other_games: float
) -> float:
    """Return the p-value of two links' sum, from their leads by seed. It is 1 where it is 0."""
    # A game more or less of a link, as where one was forfeited, must not make up for the other.
    divisor = math.gcd(int(one_games), int(other_games))
    sums = one * (int(other_games) // divisor) + other * (int(one_games) // divisor)
    ahead = int(sums.sum())
    return _chance_of(ahead, np.abs(sums)) if ahead > 0 else 1.0


def _chance_of(least: int, sizes: NDArray[np.int64]) -> float:
    """Return the chance that these sizes with signs at random sum to `least` or more.

    >>> _chance_of(3, np.array([1, 1, 1]))
    0.125
    """
    divisor = max(1, int(np.gcd.reduce(sizes)))
    steps = (sizes[sizes > 0] // divisor).tolist()
    chances = np.ones(1)  # of the sums from the least to the greatest, two steps apart
    for step in steps:
        turned = np.zeros(len(chances) + step)
        turned[: len(chances)] += chances / 2
        turned[step:] += chances / 2
        chances = turned
    reach = sum(steps)
    # A sum is `2 * place - reach` steps.
    first = (least // divisor + reach) // 2
    return min(1.0, float(chances[first:].sum()))
