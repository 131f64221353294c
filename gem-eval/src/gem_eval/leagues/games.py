"""The games of a league as plain data, and their points by pair. Knows nothing about episodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem_eval.leagues.record import Forfeits

__all__ = ["Floats", "Game", "Points", "points_of"]

Floats = NDArray[np.float64]


class Game(NamedTuple):
    """One game: which player sat at each seat, and what each seat earned.

    `seed` numbers what it was played from: the games of one seed, in every rotation and of every
    pair, are alike, and count as one observation of many where something is uncertain. `forfeit`
    is the seat whose policy failed, None where the game was played to its end.
    """

    seed: int
    players: tuple[int, ...]
    earned: tuple[float, ...]
    forfeit: int | None = None


class Points(NamedTuple):
    """What players took from each other, by seed: arrays of shape (seeds, players, players).

    `games[s, i, j]` counts the games of a seed in which player `i` sat at a lower seat than `j`,
    and `taken[s, i, j]` what `i` took in them: 1 for a win, a half for a draw.
    """

    games: Floats
    taken: Floats

    @property
    def met(self) -> Floats:
        """How many games each pair has in all, of shape (players, players): the same both ways."""
        counts = self.games.sum(axis=0)
        both: Floats = counts + counts.T
        return both

    @property
    def won(self) -> Floats:
        """What each player took from each other one in all, of shape (players, players)."""
        counts = self.games.sum(axis=0)
        taken = self.taken.sum(axis=0)
        both: Floats = taken + (counts - taken).T
        return both


def points_of(games: Sequence[Game], players: int, forfeits: Forfeits = "apart") -> Points:
    """Return the points of games. Who earned more at the end has won, and equals have drawn.

    In a game of more than two seats each pair of them counts so. A player that sits at two seats
    of a game takes nothing from itself.

    >>> points_of([Game(0, (1, 0), (-1.0, 1.0))], players=2).won.tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    places = {seed: place for place, seed in enumerate(sorted({game.seed for game in games}))}
    shape = (len(places), players, players)
    counts = np.zeros(shape)
    taken = np.zeros(shape)
    for game in games:
        place = places[game.seed]
        for lower, higher, points in _meetings(game, forfeits):
            pair = (game.players[lower], game.players[higher])
            if pair[0] != pair[1]:
                counts[place, pair[0], pair[1]] += 1.0
                taken[place, pair[0], pair[1]] += points
    return Points(counts, taken)


def _meetings(game: Game, forfeits: Forfeits) -> Iterator[tuple[int, int, float]]:
    """Yield two seats that met in a game, the lower first, and what the lower one took."""
    seats = range(len(game.players))
    for lower in seats:
        for higher in seats[lower + 1 :]:
            if game.forfeit is None:
                difference = game.earned[lower] - game.earned[higher]
                yield lower, higher, 0.5 if difference == 0 else float(difference > 0)
            elif forfeits == "lose" and game.forfeit in (lower, higher):
                # Of those that did not fail nobody knows who would have won.
                yield lower, higher, float(game.forfeit == higher)
