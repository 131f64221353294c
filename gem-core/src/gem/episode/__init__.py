"""The record of one episode: turns, a log of one episode a line, and the same actions run again.

One record serves evaluation, viewing and training. Imports the rooms that make an environment of a
record; knows nothing about how episodes are run.
"""

from __future__ import annotations

from gem.episode._episode import FORMAT, Episode, StopReason, is_success
from gem.episode._foreign import ForeignEpisode, ForeignTurn
from gem.episode._seats import SeatOutcome
from gem.episode._turn import Turn, answer_of, plain_info

__all__ = [
    "FORMAT",
    "Episode",
    "ForeignEpisode",
    "ForeignTurn",
    "SeatOutcome",
    "StopReason",
    "Turn",
    "answer_of",
    "is_success",
    "plain_info",
]
