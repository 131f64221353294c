"""The iterated prisoner's dilemma for two seats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gem_envs_games.parsing import move_reader
from gem_envs_games.seated.round_game import RoundGame
from gem_envs_games.seated.rounds import checked_rounds
from gem_envs_games.trees.prisoners_dilemma import PrisonersDilemma as Tree

__all__ = ["PrisonersDilemma"]

_CHOICES = frozenset({"cooperate", "defect"})
_COOPERATION = 3.0  # what a round earns where both cooperate


def _choice(words: list[str]) -> str | None:
    word = words[0].lower() if len(words) == 1 else ""
    return word if word in _CHOICES else None


_read = move_reader(_choice)


class PrisonersDilemma(RoundGame[Tree]):
    """Cooperate or defect at once, in a number of rounds that both know. It is not zero-sum.

    A round earns 3 each where both cooperate and 1 each where both defect; who defects alone
    earns 5, and the other 0. A seat succeeds if it earns in all what mutual cooperation would.
    `solve` defects, as every equilibrium of a known number of rounds does.
    """

    seats = ("first", "second")
    zero_sum = False
    tree = Tree

    def __init__(self, rounds: int = 5, error_allowance: int = 1) -> None:
        self.rounds = checked_rounds(rounds, "PrisonersDilemma")
        super().__init__(Tree(rounds=rounds), error_allowance)
        self.reward_range = (0.0, max(5.0, _COOPERATION * rounds))  # the latter of a forfeit

    def instructions(self, seat: int) -> str:
        return (
            f"You are playing the prisoner's dilemma for {self.rounds} rounds, as the "
            f"{self.seats[seat]} player.\n"
            "In each round both players choose at once to cooperate or to defect. If both "
            "cooperate, both earn 3; if both defect, both earn 1; who defects alone earns 5, and "
            "the other 0. Earn as much as you can.\n"
            "Write what you like, but give your choice in \\boxed{}: \\boxed{cooperate} or "
            "\\boxed{defect}. Only the last one counts."
        )

    def read(self, action: str) -> str | None:
        return _read(action)

    def expected(self) -> str:
        return "\\boxed{cooperate} or \\boxed{defect}"

    def question(self, position: Tree, seat: int) -> str:
        number = len(position.history) // 2 + 1
        return f"Round {number} of {self.rounds}. Enter your choice."

    def closing(self, position: Tree) -> str:
        earned = position.returns()
        return f"The game is over. Earned: first {earned[0]:.0f}, second {earned[1]:.0f}."

    def successes(self, totals: Iterable[float]) -> list[bool]:
        return [total >= _COOPERATION * self.rounds for total in totals]

    def forfeit_rewards(self, losers: Sequence[int]) -> list[float]:
        """Pay the others for the rounds that are left as if both cooperated, the losers nothing."""
        left = self.rounds - len(self.position.history) // 2
        return [0.0 if seat in losers else _COOPERATION * left for seat in range(len(self.seats))]

    def best_move(self, position: Tree) -> str:
        return "defect"
