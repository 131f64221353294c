"""Kuhn poker as a game tree (Kuhn, A simplified two-person poker, 1950)."""

from __future__ import annotations

from typing import NamedTuple

from gem_envs_games.trees.position import Chance

__all__ = ["KuhnPoker"]

_CARDS = "JQK"
_ACTIONS = ("pass", "bet")
_FOLDED = ("bp", "pbp")
_SHOWN = ("pp", "bb", "pbb")  # the higher card decides


class KuhnPoker(NamedTuple):
    """Three cards, J below Q below K, one to each of two seats; an ante of 1 and one bet of 1.

    To pass after a bet is to fold, to bet after a bet is to call. `cards` are those dealt,
    `bets` the letters p and b of what was done. The game is worth -1/18 to the first seat.

    >>> KuhnPoker("KJ", "pb").known_to(0)
    '0 K pb'
    """

    cards: str = ""
    bets: str = ""

    @property
    def is_over(self) -> bool:
        return self.is_folded or self.bets in _SHOWN

    @property
    def is_folded(self) -> bool:
        """Whether the last to act gave up."""
        return self.bets in _FOLDED

    @property
    def movers(self) -> tuple[int, ...]:
        if len(self.cards) < 2 or self.is_over:
            return ()
        return (len(self.bets) % 2,)

    @property
    def has_perfect_information(self) -> bool:
        return False

    def chances(self) -> Chance:
        if len(self.cards) == 2:
            return ()
        left = [card for card in _CARDS if card not in self.cards]
        return tuple([(card, 1 / len(left)) for card in left])

    def legal(self, seat: int) -> tuple[str, ...]:
        return _ACTIONS

    def after(self, *actions: str) -> KuhnPoker:
        action = actions[0]
        if len(self.cards) < 2:
            return KuhnPoker(self.cards + action, self.bets)
        return KuhnPoker(self.cards, self.bets + action[0])

    def known_to(self, seat: int) -> str:
        return f"{seat} {self.cards[seat : seat + 1]} {self.bets}"

    def returns(self) -> tuple[float, ...]:
        if not self.is_over:
            return (0.0, 0.0)
        if self.is_folded:
            first_wins = len(self.bets) % 2 == 0
            stake = 1.0
        else:
            first_wins = _CARDS.index(self.cards[0]) > _CARDS.index(self.cards[1])
            stake = 2.0 if "b" in self.bets else 1.0
        return (stake, -stake) if first_wins else (-stake, stake)
