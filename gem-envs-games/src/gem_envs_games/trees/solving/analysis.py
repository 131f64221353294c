"""How well policies do against each other and against best responses: exact, by whole trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gem_envs_games.trees.position import Position
from gem_envs_games.trees.solving.policies import Policy, Table
from gem_envs_games.trees.solving.positions import PositionGraph
from gem_envs_games.trees.solving.sequence_form import SequenceForm

__all__ = ["Analysis", "analysis_of", "exploitability", "nash_conv"]


class Analysis(Protocol):
    """A game that has been walked through whole, ready for exact questions about policies."""

    @property
    def seats(self) -> int:
        """How many seats the game has."""
        ...

    def values(self, policies: Sequence[Policy]) -> tuple[float, ...]:
        """Return what each seat earns on average where seat `i` plays `policies[i]`."""
        ...

    def best_response(self, policies: Sequence[Policy], seat: int) -> tuple[float, Table]:
        """Return what a seat earns at best against the others' policies, and how it plays.

        Of actions that are equally good it takes the first. `policies[seat]` is not asked.
        """
        ...


def analysis_of(root: Position, *, max_positions: int = 1_000_000) -> Analysis:
    """Walk through a game from a position, some 300,000 positions a second.

    Games of perfect information are kept by positions, all others by sequences. Raises
    ValueError where there are more than `max_positions`, 600 bytes each at most.
    """
    if root.has_perfect_information:
        return PositionGraph(root, max_positions=max_positions)
    return SequenceForm(root, max_positions=max_positions)


def nash_conv(game: Analysis, policies: Sequence[Policy]) -> float:
    """Return what the seats would gain in all, if each changed alone to its best response.

    It is 0 in an equilibrium and positive elsewhere, in games that are not zero-sum as well
    (Lanctot et al., A unified game-theoretic approach to multiagent reinforcement learning, 2017).
    """
    values = game.values(policies)
    best = [game.best_response(policies, seat)[0] for seat in range(game.seats)]
    return sum(best) - sum(values)


def exploitability(game: Analysis, policies: Sequence[Policy]) -> float:
    """Return `nash_conv` by seat, which is what OpenSpiel calls exploitability.

    >>> from gem_envs_games.trees import KuhnPoker
    >>> from gem_envs_games.trees.solving.policies import uniform
    >>> round(exploitability(analysis_of(KuhnPoker()), [uniform, uniform]), 4)
    0.4583
    """
    return nash_conv(game, policies) / game.seats
