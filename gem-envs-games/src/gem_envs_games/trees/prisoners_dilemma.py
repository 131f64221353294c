"""The iterated prisoner's dilemma as a game tree."""

from __future__ import annotations

from typing import NamedTuple

from gem_envs_games.trees.position import Chance

__all__ = ["PrisonersDilemma"]

_ACTIONS = ("cooperate", "defect")
_NOBODY: tuple[int, ...] = ()
_PAYOFFS = {
    ("cooperate", "cooperate"): (3.0, 3.0),
    ("cooperate", "defect"): (0.0, 5.0),
    ("defect", "cooperate"): (5.0, 0.0),
    ("defect", "defect"): (1.0, 1.0),
}


class PrisonersDilemma(NamedTuple):
    """Two seats choose at once, for a number of rounds that both know.

    Both earn 3 where both cooperate, and 1 where both defect; who defects alone earns 5, and
    the other 0. `history` has the letters c and d of both seats for every round. In every
    equilibrium both defect in every round.

    >>> PrisonersDilemma(rounds=3).after("cooperate", "defect").known_to(1)
    '1 cd'
    """

    history: str = ""
    earned: tuple[float, float] = (0.0, 0.0)
    rounds: int = 10

    @property
    def is_over(self) -> bool:
        return len(self.history) == 2 * self.rounds

    @property
    def movers(self) -> tuple[int, ...]:
        return _NOBODY if self.is_over else (0, 1)

    @property
    def has_perfect_information(self) -> bool:
        return False

    def chances(self) -> Chance:
        return ()

    def legal(self, seat: int) -> tuple[str, ...]:
        return _ACTIONS

    def after(self, *actions: str) -> PrisonersDilemma:
        first, second = actions
        payoffs = _PAYOFFS[first, second]
        return PrisonersDilemma(
            self.history + first[0] + second[0],
            (self.earned[0] + payoffs[0], self.earned[1] + payoffs[1]),
            self.rounds,
        )

    def known_to(self, seat: int) -> str:
        return f"{seat} {self.history}"

    def returns(self) -> tuple[float, ...]:
        return self.earned
