"""Rock, paper, scissors for two seats, in rounds."""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_games.parsing import move_reader
from gem_envs_games.seated.round_game import RoundGame
from gem_envs_games.seated.rounds import checked_rounds
from gem_envs_games.trees.rock_paper_scissors import RockPaperScissors as Tree
from gem_envs_games.trees.solving.policies import Policy, uniform

__all__ = ["RockPaperScissors"]

_CHOICES = frozenset({"rock", "paper", "scissors"})


def _choice(words: list[str]) -> str | None:
    word = words[0].lower() if len(words) == 1 else ""
    return word if word in _CHOICES else None


_read = move_reader(_choice)


class RockPaperScissors(RoundGame[Tree]):
    """Choose at once: each round earns 1 for who wins it and -1 for the other.

    A seat succeeds if it wins more rounds than it loses. `solve` chooses at random, which is the
    equilibrium, by a draw of the episode's seed.
    """

    seats = ("first", "second")
    tree = Tree

    def __init__(self, rounds: int = 5, error_allowance: int = 1) -> None:
        self.rounds = checked_rounds(rounds, "RockPaperScissors")
        super().__init__(Tree(rounds=rounds), error_allowance)
        self.reward_range = (-float(rounds), float(rounds))  # of a forfeit in the first round

    def instructions(self, seat: int) -> str:
        return (
            f"You are playing rock, paper, scissors for {self.rounds} rounds, as the "
            f"{self.seats[seat]} player.\n"
            "In each round both players choose at once. Rock beats scissors, scissors beat paper, "
            "paper beats rock. A round won earns 1 point, a round lost costs 1, and equal choices "
            "nothing. Who has more points at the end wins.\n"
            "Write what you like, but give your choice in \\boxed{}: \\boxed{rock}, \\boxed{paper} "
            "or \\boxed{scissors}. Only the last one counts."
        )

    def read(self, action: str) -> str | None:
        return _read(action)

    def expected(self) -> str:
        return "\\boxed{rock}, \\boxed{paper} or \\boxed{scissors}"

    def question(self, position: Tree, seat: int) -> str:
        number = len(position.history) // 2 + 1
        return f"Round {number} of {self.rounds}. Enter your choice."

    def closing(self, position: Tree) -> str:
        points = position.returns()
        return f"The game is over. Points: first {points[0]:.0f}, second {points[1]:.0f}."

    def forfeit_rewards(self, losers: Sequence[int]) -> list[float]:
        """Count the rounds that are left as lost, or as equal where both forfeit."""
        left = float(self.rounds - len(self.position.history) // 2)
        if len(losers) > 1:
            return [0.0, 0.0]
        return [-left, left] if losers[0] == 0 else [left, -left]

    def solution(self) -> Policy:
        return uniform
