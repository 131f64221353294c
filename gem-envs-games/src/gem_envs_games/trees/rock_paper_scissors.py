"""Rock, paper, scissors as a game tree."""

from __future__ import annotations

from typing import NamedTuple

from gem_envs_games.trees.position import Chance

__all__ = ["RockPaperScissors"]

_ACTIONS = ("rock", "paper", "scissors")  # each is beaten by the next, the last by the first
_NUMBERS = {action: number for number, action in enumerate(_ACTIONS)}
_NOBODY: tuple[int, ...] = ()


class RockPaperScissors(NamedTuple):
    """Two seats choose at once in every round: a round won is 1 to -1, equal choices 0.

    `history` has the letters r, p and s of both seats for every round. In equilibrium each is
    chosen as often as the others.

    >>> RockPaperScissors(rounds=3).after("paper", "rock").returns()
    (1.0, -1.0)
    """

    history: str = ""
    lead: int = 0
    rounds: int = 1

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

    def after(self, *actions: str) -> RockPaperScissors:
        first, second = actions
        # 1 where the first beats the second, 2 where it is beaten.
        difference = (_NUMBERS[first] - _NUMBERS[second]) % 3
        won = (0, 1, -1)[difference]
        history = self.history + first[0] + second[0]
        return RockPaperScissors(history, self.lead + won, self.rounds)

    def known_to(self, seat: int) -> str:
        return f"{seat} {self.history}"

    def returns(self) -> tuple[float, ...]:
        return (float(self.lead), float(-self.lead))
