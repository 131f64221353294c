"""Nim for two seats."""

from __future__ import annotations

from functools import lru_cache

from gem.errors import BadArguments
from gem_envs_games.parsing import integers, move_reader
from gem_envs_games.seated.tree_game import TreeGame
from gem_envs_games.trees.nim import Nim as Tree
from gem_envs_games.trees.solving.nim_sum import best_nim_move

__all__ = ["Nim"]

_MOST_PILES = 20
_LARGEST = 100


def _move(words: list[str]) -> str | None:
    numbers = integers(words)
    if numbers is None or len(numbers) != 2:
        return None
    return f"{numbers[0]} {numbers[1]}"


_read = move_reader(_move)


class Nim(TreeGame[Tree]):
    """Take objects from piles; who takes the last wins 1, and the other loses 1.

    `piles` are their sizes, and where it is `misere`, who takes the last loses. `solve` is exact:
    it wins wherever that can be forced.
    """

    seats = ("first", "second")
    tree = Tree

    def __init__(
        self,
        piles: tuple[int, ...] = (3, 4, 5),
        misere: bool = False,
        error_allowance: int = 1,
    ) -> None:
        are_sizes = all(1 <= size <= _LARGEST for size in piles)
        if not (1 <= len(piles) <= _MOST_PILES and are_sizes):
            raise BadArguments(
                f"Nim was given the piles {piles!r:.80}. Pass 1 to {_MOST_PILES} piles of 1 to "
                f"{_LARGEST} objects.",
                subject="Nim",
            )
        self.piles = tuple(piles)
        self.misere = misere
        super().__init__(Tree(self.piles, misere=misere), error_allowance)

    def instructions(self, seat: int) -> str:
        return (
            f"You are playing Nim as the {self.seats[seat]} player. The first player begins.\n"
            "In turn each player takes one or more objects from one pile. Who takes the last "
            f"object of all {'loses' if self.misere else 'wins'}.\n"
            "Write what you like, but give the number of the pile and how many objects you take "
            "from it in \\boxed{}, for example \\boxed{0 2} for two objects of pile 0. Only the "
            "last one counts."
        )

    def read(self, action: str) -> str | None:
        return _read(action)

    def expected(self) -> str:
        return "a pile and how many you take from it in \\boxed{}, for example \\boxed{0 2}"

    def question(self, position: Tree, seat: int) -> str:
        return f"{_listed(position.piles)}\nEnter your move."

    def closing(self, position: Tree) -> str:
        winner = position.returns().index(1.0)
        return f"All piles are empty. The {self.seats[winner]} player wins."

    def best_move(self, position: Tree) -> str:
        return best_nim_move(position)


@lru_cache(4096)  # few positions, and each is shown at every move
def _listed(piles: tuple[int, ...]) -> str:
    return ", ".join(f"pile {number}: {size}" for number, size in enumerate(piles))
