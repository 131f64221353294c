"""Games of players whose chances are known, drawn as a league would play them."""

from __future__ import annotations

import numpy as np

from gem_eval.leagues.games import Floats, Game, Points, points_of

__all__ = ["circle", "games_between", "points_between", "ranked"]


def ranked(rng: np.random.Generator, players: int, spread: float) -> Floats:
    """Return log-odds between players whom ratings explain, of this spread."""
    ratings = rng.normal(size=players) * spread
    odds: Floats = ratings[:, None] - ratings[None, :]
    return odds


def circle(rng: np.random.Generator, players: int, strength: float) -> Floats:
    """Return log-odds between players on a circle: each beats the half that comes after it."""
    odds = np.zeros((players, players))
    for player in range(players):
        for step in range(1, (players - 1) // 2 + 1):
            other = (player + step) % players
            odds[player, other] = strength * rng.uniform(0.8, 1.2)
            odds[other, player] = -odds[player, other]
    return odds


def games_between(
    rng: np.random.Generator,
    odds: Floats,
    seeds: int,
    *,
    draws: float = 0.0,
    first: float = 0.2,
    luck: float = 0.0,
) -> list[Game]:
    """Return the games of a league: all pairs, each seed in both rotations.

    `draws` is the chance that a game is drawn whoever plays, `first` what the first seat is worth
    in log-odds, and `luck` how much the games of a pair of players on one seed have in common.
    """
    games = []
    players = len(odds)
    for seed in range(seeds):
        for one in range(players):
            for other in range(one + 1, players):
                shift = luck * rng.normal()
                for seats, worth in (((one, other), shift), ((other, one), -shift)):
                    chance = 1 / (1 + np.exp(-(odds[seats] + first + worth)))
                    won = 0.0
                    if rng.random() >= draws:
                        won = 1.0 if rng.random() < chance else -1.0
                    games.append(Game(seed, seats, (won, -won)))
    return games


def points_between(
    rng: np.random.Generator, odds: Floats, seeds: int, *, draws: float = 0.0, luck: float = 0.0
) -> Points:
    """Return the points of such games."""
    return points_of(games_between(rng, odds, seeds, draws=draws, luck=luck), len(odds))
