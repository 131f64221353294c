"""ConnectFour for two seats."""

from __future__ import annotations

from gem.errors import BadArguments
from gem_envs_games.parsing import move_reader, one_integer
from gem_envs_games.seated.tree_game import TreeGame
from gem_envs_games.trees.connect_four import ConnectFour as Tree
from gem_envs_games.trees.solving.connect_four_search import search_connect_four

__all__ = ["ConnectFour"]

_LARGEST = 16
_SEARCHED = 2_000  # positions for a move of `solve`: some 20 ms


def _move(words: list[str]) -> str | None:
    """Return the number of the words "3" or "col 3"."""
    is_named = len(words) == 2 and words[0].lower() in ("col", "column")
    column = one_integer(words[1:] if is_named else words)
    return None if column is None else str(column)


_read = move_reader(_move)


class ConnectFour(TreeGame[Tree]):
    """Get four discs in a line. A win earns 1, a loss -1, a draw 0; a draw is no success.

    `solve` searches 2,000 positions, some six moves ahead on an empty board of 6x7: it wins and
    parries all that it sees there, and is exact near the end of a game and on small boards, but
    it is no perfect player.
    """

    seats = ("X", "O")
    titles = ("X", "O")
    tree = Tree

    def __init__(self, rows: int = 6, columns: int = 7, error_allowance: int = 1) -> None:
        if not (4 <= rows <= _LARGEST and 4 <= columns <= _LARGEST):
            raise BadArguments(
                f"ConnectFour was given a board of {rows}x{columns}. Pass rows and columns from 4 "
                f"to {_LARGEST}.",
                subject="ConnectFour",
            )
        self.rows = rows
        self.columns = columns
        super().__init__(Tree(rows=rows, columns=columns), error_allowance)

    def instructions(self, seat: int) -> str:
        return (
            f"You are playing ConnectFour as {self.seats[seat]}, against {self.seats[1 - seat]}. X "
            "begins.\n"
            f"In turn each player drops a disc into a column of a board with {self.rows} rows and "
            f"{self.columns} columns, and it falls onto those that are there. Who first has four "
            "discs in a line, across, up or diagonally, wins; if the board is full, it is a "
            "draw.\n"
            f"Columns are numbered from 0 to {self.columns - 1}. Write what you like, but give "
            "your column in \\boxed{}, for example \\boxed{3}. Only the last one counts."
        )

    def read(self, action: str) -> str | None:
        return _read(action)

    def expected(self) -> str:
        return "the number of a column with room in \\boxed{}, for example \\boxed{3}"

    def question(self, position: Tree, seat: int) -> str:
        return f"{self._drawn(position)}\nYou are {self.seats[seat]}. Enter your move."

    def closing(self, position: Tree) -> str:
        returns = position.returns()
        how = f"{self.seats[returns.index(1.0)]} wins." if any(returns) else "It is a draw."
        return f"{self._drawn(position)}\n{how}"

    def best_move(self, position: Tree) -> str:
        return search_connect_four(position, max_positions=_SEARCHED).move

    def _drawn(self, position: Tree) -> str:
        """Return the numbers of the columns, and below them the rows from the top."""
        width = len(str(self.columns - 1))
        header = " ".join([str(column).rjust(width) for column in range(self.columns)])
        gap = " " * width
        rows = position.known_to(0).split("/")
        pad = " " * (width - 1)
        return "\n".join([header, *[pad + gap.join(row) for row in rows]])
