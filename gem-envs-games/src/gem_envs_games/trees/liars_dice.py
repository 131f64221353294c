"""Liar's dice, a die each, as a game tree."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gem_envs_games.trees.position import Chance

__all__ = ["LiarsDice"]

LIAR = "liar"
_DICE = 2  # one each


class LiarsDice(NamedTuple):
    """Two seats roll a die each in secret, and bid in turn how many dice show a face.

    The bid "2 4" says that two dice show a 4. The highest face is wild and counts as any. Each
    bid is higher than the last: more dice, or as many of a higher face. Instead of a bid a seat
    may say "liar": if the last bid holds its bidder wins, else who doubted it; 1 to -1.

    `dice` are the faces, `bids` the numbers of the bids made: `(count - 1) * sides + face - 1`.

    >>> position = LiarsDice((4, 6)).after("1 4").after("2 4").after("liar")
    >>> position.known_to(0), position.returns()
    ('0 4 1-4 2-4 liar', (-1.0, 1.0))
    """

    dice: tuple[int, ...] = ()
    bids: tuple[int, ...] = ()
    was_doubted: bool = False
    sides: int = 6

    @property
    def is_over(self) -> bool:
        return self.was_doubted

    @property
    def movers(self) -> tuple[int, ...]:
        if self.was_doubted or len(self.dice) < _DICE:
            return ()
        return (len(self.bids) % 2,)

    @property
    def has_perfect_information(self) -> bool:
        return False

    def chances(self) -> Chance:
        if len(self.dice) == _DICE:
            return ()
        return tuple([(str(face), 1 / self.sides) for face in range(1, self.sides + 1)])

    def legal(self, seat: int) -> tuple[str, ...]:
        """Return the higher bids in their order, then "liar" where there is a bid to doubt."""
        if not self.bids:
            return _every_bid(self.sides)
        return (*_every_bid(self.sides)[self.bids[-1] + 1 :], LIAR)

    def after(self, *actions: str) -> LiarsDice:
        action = actions[0]
        if len(self.dice) < _DICE:
            return LiarsDice((*self.dice, int(action)), (), False, self.sides)
        if action == LIAR:
            return LiarsDice(self.dice, self.bids, True, self.sides)
        count, _, face = action.partition(" ")
        bid = (int(count) - 1) * self.sides + int(face) - 1
        return LiarsDice(self.dice, (*self.bids, bid), False, self.sides)

    def known_to(self, seat: int) -> str:
        own = self.dice[seat : seat + 1]
        every_bid = _every_bid(self.sides)
        words = [str(seat), *map(str, own)]
        words += [every_bid[bid].replace(" ", "-") for bid in self.bids]
        if self.was_doubted:
            words.append(LIAR)
        return " ".join(words)

    def returns(self) -> tuple[float, ...]:
        if not self.was_doubted:
            return (0.0, 0.0)
        count, face = divmod(self.bids[-1], self.sides)
        shown = sum([die in (face + 1, self.sides) for die in self.dice])
        bidder = (len(self.bids) - 1) % 2
        winner = bidder if shown > count else 1 - bidder  # `count` is one less than was bid
        return (1.0, -1.0) if winner == 0 else (-1.0, 1.0)


@lru_cache(16)
def _every_bid(sides: int) -> tuple[str, ...]:
    return tuple(f"{count} {face}" for count in range(1, _DICE + 1) for face in range(1, sides + 1))
