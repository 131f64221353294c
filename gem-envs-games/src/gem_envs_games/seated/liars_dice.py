"""Liar's dice, a die each, for two seats."""

from __future__ import annotations

from gem_envs_games.parsing import integers, move_reader
from gem_envs_games.seated.tree_game import TreeGame
from gem_envs_games.trees.liars_dice import LiarsDice as Tree
from gem_envs_games.trees.solving.policies import Policy
from gem_envs_games.trees.solving.stored import stored_equilibrium

__all__ = ["LiarsDice"]


def _move(words: list[str]) -> str | None:
    if len(words) == 1 and words[0].lower() == "liar":
        return "liar"
    numbers = integers(words)
    if numbers is None or len(numbers) != 2:
        return None
    return f"{numbers[0]} {numbers[1]}"


_read = move_reader(_move)


class LiarsDice(TreeGame[Tree]):
    """Bid how many of two dice show a face, or doubt the last bid. Earns 1 or -1.

    `solve` plays an equilibrium, which loses 7/258 a game as the first seat and wins that as the
    second, on average against the best answer to it. It mixes by a draw of the episode's seed.
    """

    seats = ("first", "second")
    tree = Tree

    def __init__(self, error_allowance: int = 1) -> None:
        super().__init__(Tree(), error_allowance)

    def instructions(self, seat: int) -> str:
        return (
            f"You are playing Liar's dice as the {self.seats[seat]} player. The first player "
            "begins.\n"
            "Each player has rolled one die in secret. In turn you bid how many of the two dice "
            "show a face, 1 to 6; a 6 is wild and counts as any face. A bid must be higher than "
            "the last: more dice, or as many dice of a higher face. Instead of a bid you may say "
            "liar: then the dice are shown. If the last bid holds, who made it wins, else who "
            "doubted it.\n"
            "Write what you like, but give your move in \\boxed{}: the number of dice and the "
            "face, for example \\boxed{1 4}, or \\boxed{liar}. Only the last one counts."
        )

    def private(self, seat: int) -> str:
        return f"Your die shows {self.position.dice[seat]}."

    def secrets(self) -> dict[int, list[str]]:
        first, second = (self.private(seat) for seat in range(2))
        if first == second:
            return {}  # each seat is told of its own what is a secret of the other
        return {0: [first], 1: [second]}

    def read(self, action: str) -> str | None:
        return _read(action)

    def expected(self) -> str:
        return "a higher bid in \\boxed{}, for example \\boxed{2 4}, or \\boxed{liar}"

    def question(self, position: Tree, seat: int) -> str:
        return "Bid, or say liar." if position.bids else "Enter your bid."

    def closing(self, position: Tree) -> str:
        first, second = position.dice
        winner = position.returns().index(1.0)
        return (
            f"The first player's die shows {first}, the second's {second}. The "
            f"{self.seats[winner]} player wins."
        )

    def solution(self) -> Policy:
        return stored_equilibrium("liars_dice")
