"""Ratings of games of more than two seats, by openskill's Plackett-Luce model. Needs openskill."""

from __future__ import annotations

from collections.abc import Sequence

from gem.registry import check_requirements
from gem_eval.leagues.bradley_terry import Rating
from gem_eval.leagues.games import Game
from gem_eval.leagues.record import Forfeits

__all__ = ["REQUIRES", "skills"]

REQUIRES = "openskill>=6.2"
_Z95 = 1.959963984540054


def skills(games: Sequence[Game], players: int, forfeits: Forfeits = "apart") -> tuple[Rating, ...]:
    """Rate players by games of any number of seats, in the order of the games.

    Ratings are openskill's `mu`, 25 where nothing is known, between `mu` less and plus 1.96 `sigma`
    (Weng and Lin 2011, Journal of Machine Learning Research 12). A forfeit that counts is a last
    place, and the others share the first. Raises MissingRequirement without openskill.
    """
    check_requirements((REQUIRES,), subject="a league of more than two seats", of="gem-eval")
    from openskill.models import PlackettLuce  # heavy: 0.1 s

    model = PlackettLuce()
    ratings = [model.rating() for _ in range(players)]
    for game in games:
        scores = _scores(game, forfeits)
        if scores is not None:
            teams = [[ratings[player]] for player in game.players]
            rated = model.rate(teams, scores=scores)
            for player, team in zip(game.players, rated, strict=True):
                ratings[player] = team[0]
    return tuple(
        Rating(
            float(rating.mu),
            float(rating.mu - _Z95 * rating.sigma),
            float(rating.mu + _Z95 * rating.sigma),
        )
        for rating in ratings
    )


def _scores(game: Game, forfeits: Forfeits) -> list[float] | None:
    """Return a score by seat, higher is better; None for a game that does not count."""
    if game.forfeit is None:
        return list(game.earned)
    if forfeits == "apart":
        return None
    return [0.0 if seat == game.forfeit else 1.0 for seat in range(len(game.players))]
