"""Leduc poker for two seats."""

from __future__ import annotations

from gem_envs_games.parsing import move_reader
from gem_envs_games.seated.tree_game import TreeGame
from gem_envs_games.trees.leduc_poker import LeducPoker as Tree
from gem_envs_games.trees.solving.policies import Policy
from gem_envs_games.trees.solving.stored import stored_equilibrium

__all__ = ["LeducPoker"]

_MOVES = frozenset({"check", "bet", "fold", "call", "raise"})


def _move(words: list[str]) -> str | None:
    word = words[0].lower() if len(words) == 1 else ""
    return word if word in _MOVES else None


_read = move_reader(_move)


class LeducPoker(TreeGame[Tree]):
    """Six cards, one each and a public one later, two rounds of bets. Earns the chips won.

    `solve` plays an equilibrium, which loses 0.0856 a game as the first seat and wins that as
    the second, on average against the best answer to it. It mixes by a draw of the episode's seed.
    """

    seats = ("first", "second")
    tree = Tree
    stake = 13.0

    def __init__(self, error_allowance: int = 1) -> None:
        super().__init__(Tree(), error_allowance)

    def instructions(self, seat: int) -> str:
        return (
            f"You are playing Leduc poker as the {self.seats[seat]} player.\n"
            "There are six cards: two J, two Q and two K, J the lowest. Each player is dealt one, "
            "and has put 1 chip into the pot. In each of two rounds the first player begins, and "
            "may check or bet; after a bet one may fold, call or raise, and a round has two bets "
            "at most, a raise included. A bet or a raise is 2 chips in the first round and 4 in "
            "the second. After the first round a public card is shown. At the end a card that "
            "equals the public one wins, else the higher card; equal cards share the pot.\n"
            "Write what you like, but give your move in \\boxed{}, for example \\boxed{check}. "
            "Only the last one counts."
        )

    def private(self, seat: int) -> str:
        return f"Your card is {self.position.cards[seat]}."

    def secrets(self) -> dict[int, list[str]]:
        first, second = (self.private(seat) for seat in range(2))
        if first == second:
            return {}  # each seat is told of its own what is a secret of the other
        return {0: [first], 1: [second]}

    def revealed(self, position: Tree) -> str:
        return f"The public card is {position.public}."

    def read(self, action: str) -> str | None:
        return _read(action)

    def expected(self) -> str:
        return f"one of {', '.join(self.position.legal(self.seat))} in \\boxed{{}}"

    def question(self, position: Tree, seat: int) -> str:
        own, other = position.stakes() if seat == 0 else position.stakes()[::-1]
        moves = ", ".join(position.legal(seat))
        return f"You have put in {own}, the other player {other}. You may {moves}."

    def closing(self, position: Tree) -> str:
        returns = position.returns()
        winner = 0 if returns[0] > 0 else 1
        won = f"The {self.seats[winner]} player wins {returns[winner]:.0f}."
        if position.is_folded:
            return won
        cards = f"The first player had {position.cards[0]}, the second {position.cards[1]}."
        return f"{cards} {won}" if any(returns) else f"{cards} The pot is shared."

    def solution(self) -> Policy:
        return stored_equilibrium("leduc_poker")
