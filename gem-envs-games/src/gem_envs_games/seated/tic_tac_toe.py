"""TicTacToe for two seats."""

from __future__ import annotations

from functools import cache, lru_cache

from gem_envs_games.parsing import move_reader, one_integer
from gem_envs_games.seated.tree_game import TreeGame
from gem_envs_games.trees.solving.policies import Table
from gem_envs_games.trees.solving.positions import PositionGraph
from gem_envs_games.trees.tic_tac_toe import TicTacToe as Tree

__all__ = ["TicTacToe"]


def _move(words: list[str]) -> str | None:
    cell = one_integer(words)
    return None if cell is None else str(cell)


_read = move_reader(_move)


class TicTacToe(TreeGame[Tree]):
    """Get three in a row on 3x3 cells. A win earns 1, a loss -1, a draw 0; a draw is no success.

    `solve` is exact: it never loses, and of wins it takes the quickest.
    """

    seats = ("X", "O")
    titles = ("X", "O")
    tree = Tree

    def __init__(self, error_allowance: int = 1) -> None:
        super().__init__(Tree(), error_allowance)

    def instructions(self, seat: int) -> str:
        return (
            f"You are playing TicTacToe as {self.seats[seat]}, against {self.seats[1 - seat]}. X "
            "begins.\n"
            "In turn each player marks a free cell of a board of 3x3. Who first has three of their "
            "marks in a row, a column or a diagonal wins; if the board is full, it is a draw.\n"
            "The board shows the number of each free cell, 0 to 8. Write what you like, but give "
            "your cell in \\boxed{}, for example \\boxed{4}. Only the last one counts."
        )

    def read(self, action: str) -> str | None:
        return _read(action)

    def expected(self) -> str:
        return "the number of a free cell in \\boxed{}, for example \\boxed{4}"

    def question(self, position: Tree, seat: int) -> str:
        return f"{_drawn(position)}\nYou are {self.seats[seat]}. Enter your move."

    def closing(self, position: Tree) -> str:
        returns = position.returns()
        how = f"{self.seats[returns.index(1.0)]} wins." if any(returns) else "It is a draw."
        return f"{_drawn(position)}\n{how}"

    def best_move(self, position: Tree) -> str:
        [move] = _perfect_play()[position.known_to(0)]
        return move


@lru_cache(8192)  # more than there are positions
def _drawn(position: Tree) -> str:
    cells = [
        str(number) if mark == "." else mark for number, mark in enumerate(position.known_to(0))
    ]
    return "\n".join(" ".join(cells[row : row + 3]) for row in (0, 3, 6))


@cache
def _perfect_play() -> Table:
    return PositionGraph(Tree()).best_play()  # takes 0.1 s, once a process
