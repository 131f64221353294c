"""The screen of `gem-env play`, for what else lets a person play.

A `Player` shows a view of an episode, redrawn in place on a terminal, and reads what is typed: an
answer, written as the environment wants it, or one of the commands that begin with a colon.
"""

from __future__ import annotations

from gem.cli._player import Player, PlayerLeft, TypedAnswer, answer_form
from gem.cli._screen import Exchange, View
from gem.cli._views import outcome_of

__all__ = [
    "Exchange",
    "Player",
    "PlayerLeft",
    "TypedAnswer",
    "View",
    "answer_form",
    "outcome_of",
]
