"""Put right three faults of TextArena 0.7.4 that spoil an episode. All others stay theirs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["mend"]

_Parse = Callable[[str], "tuple[int, ...] | None"]


def mend(game: Any) -> None:
    """Mend a game that was just reset.

    Countdown, Cryptarithm, Slitherlink and ThreeCardMonte give a refusal its reward as the
    reason and its reason as the reward. FifteenPuzzle calls a method that the state of one
    player lacks, so that solving it raises. Set takes one card three times for a Set, which
    scores on every turn, or raises.
    """
    state = game.state
    state.set_invalid_move = functools.partial(_set_invalid_move, state)
    if not hasattr(state, "set_winners"):
        state.set_winners = functools.partial(_set_winners, state)
    if type(game).__name__ == "SetEnv":
        game._parse_action = functools.partial(_three_cards, game._parse_action)


def _set_invalid_move(state: Any, reason: Any, reward: Any = -1.0) -> None:
    if isinstance(reward, str):
        reason, reward = reward, reason
    type(state).set_invalid_move(state, reason=reason, reward=reward)


def _set_winners(state: Any, player_ids: Sequence[int], reason: str) -> None:
    state.set_outcome(reward=1.0, reason=reason)


def _three_cards(parse: _Parse, action: str) -> tuple[int, ...] | None:
    cards = parse(action)
    return cards if cards and len(set(cards)) == len(cards) else None
