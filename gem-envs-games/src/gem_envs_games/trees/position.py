"""What a game tree is made of: one protocol, `Position`. Knows no game."""

from __future__ import annotations

from typing import Protocol, TypeVar

__all__ = ["Chance", "Position"]

P = TypeVar("P", bound="Position")

Chance = tuple[tuple[str, float], ...]
"""The outcomes of a chance move and their probabilities, which add up to 1."""


class Position(Protocol):
    """A position of a game, which never changes: a move leads to another one.

    Positions of one game that are equal have the same future, so they can be keys of a dict.
    Every method is a pure function of the position, and draws nothing.
    """

    def __hash__(self) -> int: ...

    @property
    def movers(self) -> tuple[int, ...]:
        """The seats that move now: one, or several at once. () is chance's move, or the end."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nobody moves any more."""
        ...

    @property
    def has_perfect_information(self) -> bool:
        """Whether all seats know the position, move one by one, and chance never does."""
        ...

    def chances(self) -> Chance:
        """Return what chance may do now, () unless the move is chance's."""
        ...

    def legal(self, seat: int) -> tuple[str, ...]:
        """Return the actions of a seat that moves now, in an order that never changes."""
        ...

    def after(self: P, *actions: str) -> P:
        """Return the position after an action of each of `movers`, in their order.

        Where the move is chance's, the one action is an outcome. An action that is not legal
        gives a position without meaning or raises ValueError: who takes actions from outside
        looks them up in `legal` first.
        """
        ...

    def known_to(self, seat: int) -> str:
        """Return the information state of a seat: all that it knows, as short text.

        Where the game has perfect information, that is the position itself. Else it names the
        seat and all that it has seen and done, and nothing is forgotten: two positions with one
        text came after the same actions of that seat.
        """
        ...

    def returns(self) -> tuple[float, ...]:
        """Return what each seat has earned up to here; at the end, what the game gave it."""
        ...
