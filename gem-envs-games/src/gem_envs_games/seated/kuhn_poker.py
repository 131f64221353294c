"""Kuhn poker for two seats."""

from __future__ import annotations

from gem_envs_games.parsing import move_reader
from gem_envs_games.seated.tree_game import TreeGame
from gem_envs_games.trees.kuhn_poker import KuhnPoker as Tree
from gem_envs_games.trees.solving.policies import Policy
from gem_envs_games.trees.solving.stored import stored_equilibrium

__all__ = ["KuhnPoker"]

_MEANINGS = {"pass": "pass", "bet": "bet", "check": "pass", "fold": "pass", "call": "bet"}


def _move(words: list[str]) -> str | None:
    return _MEANINGS.get(words[0].lower()) if len(words) == 1 else None


_read = move_reader(_move)


class KuhnPoker(TreeGame[Tree]):
    """Three cards, one each, an ante of 1 and one bet of 1. Earns the chips that are won.

    `solve` plays an equilibrium, which loses 1/18 a game as the first seat and wins that as the
    second, on average against the best answer to it. It mixes by a draw of the episode's seed.
    """

    seats = ("first", "second")
    tree = Tree
    stake = 2.0

    def __init__(self, error_allowance: int = 1) -> None:
        super().__init__(Tree(), error_allowance)

    def instructions(self, seat: int) -> str:
        return (
            f"You are playing Kuhn poker as the {self.seats[seat]} player. The first player "
            "begins.\n"
            "There are three cards: J is the lowest, K the highest. Each player is dealt one, and "
            "has put 1 chip into the pot. In turn you pass, or bet 1 chip. If both pass, or both "
            "bet, the higher card wins the pot. Who passes after a bet folds and loses the pot; to "
            "bet after a bet is to call.\n"
            "Write what you like, but give your move in \\boxed{}: \\boxed{pass} or \\boxed{bet}. "
            "Only the last one counts."
        )

    def private(self, seat: int) -> str:
        return f"Your card is {self.position.cards[seat]}."

    def secrets(self) -> dict[int, list[str]]:
        return {seat: [self.private(seat)] for seat in range(2)}

    def read(self, action: str) -> str | None:
        return _read(action)

    def expected(self) -> str:
        return "\\boxed{pass} or \\boxed{bet}"

    def question(self, position: Tree, seat: int) -> str:
        return "Pass or bet?"

    def closing(self, position: Tree) -> str:
        returns = position.returns()
        winner = 0 if returns[0] > 0 else 1
        won = f"The {self.seats[winner]} player wins {returns[winner]:.0f}."
        if position.is_folded:
            return won
        cards = position.cards
        return f"The first player had {cards[0]}, the second {cards[1]}. {won}"

    def solution(self) -> Policy:
        return stored_equilibrium("kuhn_poker")
