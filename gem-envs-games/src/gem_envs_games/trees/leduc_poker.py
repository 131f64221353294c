"""Leduc poker as a game tree (Southey et al., Bayes' bluff, UAI 2005)."""

from __future__ import annotations

from typing import NamedTuple

from gem_envs_games.trees.position import Chance

__all__ = ["LeducPoker"]

_RANKS = "JQK"
_OF_EACH = 2
_ANTE = 1
_BET = (2, 4)  # what a bet or a raise adds in each round
_MOST_BETS = 2  # in a round, the raise included
_DONE = ("kk", "bc", "kbc", "brc", "kbrc")  # rounds of betting after which nobody has folded
_LETTERS = {"check": "k", "bet": "b", "fold": "f", "call": "c", "raise": "r"}
_OPENING = ("check", "bet")
_FACING_BET = ("fold", "call", "raise")
_FACING_RAISE = ("fold", "call")


class LeducPoker(NamedTuple):
    """Six cards, two each of J, Q and K: one to each of two seats, and one for both later.

    The ante is 1. In each of two rounds the first seat begins, a bet or raise adds 2 in the
    first round and 4 in the second, and there are two of them at most. After the first round
    the public card is shown; who pairs it wins, else the higher card, and equal cards share.
    Suits are worth nothing, so a card is its rank alone.

    `cards` are the two private ranks, `public` the third once it is dealt, `rounds` the letters
    of what was done in each round: check (k), bet, fold, call, raise.

    >>> position = LeducPoker("QJ", "Q", ("bc", "k"))
    >>> position.known_to(1), position.legal(1), position.after("bet").after("fold").returns()
    ('1 J Q bc/k', ('check', 'bet'), (-3.0, 3.0))
    """

    cards: str = ""
    public: str = ""
    rounds: tuple[str, str] = ("", "")

    @property
    def is_over(self) -> bool:
        return self.is_folded or self.rounds[1] in _DONE

    @property
    def is_folded(self) -> bool:
        """Whether the last to act gave up."""
        return self._round.endswith("f")

    @property
    def movers(self) -> tuple[int, ...]:
        if self._is_dealing or self.is_over:
            return ()
        return (len(self._round) % 2,)

    @property
    def _is_dealing(self) -> bool:
        return len(self.cards) < 2 or (self.rounds[0] in _DONE and not self.public)

    @property
    def _round(self) -> str:
        """What was done in the round that is played."""
        return self.rounds[1] if self.public else self.rounds[0]

    @property
    def has_perfect_information(self) -> bool:
        return False

    def chances(self) -> Chance:
        if not self._is_dealing:
            return ()
        left = {rank: _OF_EACH - self.cards.count(rank) for rank in _RANKS}
        total = sum(left.values())
        return tuple([(rank, count / total) for rank, count in left.items() if count])

    def legal(self, seat: int) -> tuple[str, ...]:
        bets = sum([letter in "br" for letter in self._round])
        if not bets:
            return _OPENING
        return _FACING_BET if bets < _MOST_BETS else _FACING_RAISE

    def after(self, *actions: str) -> LeducPoker:
        action = actions[0]
        if len(self.cards) < 2:
            return LeducPoker(self.cards + action)
        if self._is_dealing:
            return LeducPoker(self.cards, action, self.rounds)
        first, second = self.rounds
        letter = _LETTERS[action]
        rounds = (first, second + letter) if self.public else (first + letter, second)
        return LeducPoker(self.cards, self.public, rounds)

    def known_to(self, seat: int) -> str:
        own = self.cards[seat : seat + 1]
        return f"{seat} {own} {self.public or '-'} {self.rounds[0]}/{self.rounds[1]}"

    def stakes(self) -> tuple[int, int]:
        """Return what each seat has put into the pot."""
        paid = [_ANTE, _ANTE]
        for letters, size in zip(self.rounds, _BET, strict=True):
            for turn, letter in enumerate(letters):
                if letter in "cbr":  # up to what the other has paid, and a bet or a raise beyond it
                    paid[turn % 2] = paid[1 - turn % 2] + (0 if letter == "c" else size)
        return paid[0], paid[1]

    def returns(self) -> tuple[float, ...]:
        if not self.is_over:
            return (0.0, 0.0)
        first_wins = self._first_wins()
        if first_wins is None:
            return (0.0, 0.0)
        stakes = self.stakes()
        lost = float(stakes[1] if first_wins else stakes[0])
        return (lost, -lost) if first_wins else (-lost, lost)

    def _first_wins(self) -> bool | None:
        """Tell whether the first seat has won, None where the pot is shared."""
        if self.is_folded:
            return len(self._round) % 2 == 0  # the second seat folded
        strengths = [(card == self.public, _RANKS.index(card)) for card in self.cards]
        return None if strengths[0] == strengths[1] else strengths[0] > strengths[1]
