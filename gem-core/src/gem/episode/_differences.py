"""What did not reproduce: a field that is not what a record says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gem.episode._episode import Episode

__all__ = ["Difference", "ending_differences", "field_differences"]

_BY_ENV = ("terminated", "truncated")


class Difference(NamedTuple):
    """The first thing that did not reproduce. Turns count from 0; `recorded` is the log's."""

    turn: int
    field: str
    recorded: Any
    replayed: Any


def field_differences(
    turn: int, recorded: Mapping[str, Any], replayed: Mapping[str, Any], *, whose: str = ""
) -> Iterator[Difference]:
    """Yield each field that is another one now; `whose` is said after its name."""
    for field, value in recorded.items():
        if value != replayed[field]:
            yield Difference(turn, f"{field}{whose}", value, replayed[field])


def ending_differences(turn: int, episode: Episode) -> Iterator[Difference]:
    """Yield each end on record that cannot be of these turns, and the right one.

    Where the environment ended the episode, in its last turn, nothing else did. A limit of the
    run, or of the model, ends one that goes on. Episodes that an error ended are not for this.
    """
    is_terminated = bool(episode.turns) and episode.turns[-1].terminated
    is_truncated = bool(episode.turns) and episode.turns[-1].truncated
    if is_terminated:
        reason = "terminated"
    elif is_truncated:
        reason = "truncated"
    else:
        reason = None  # any that is not the environment's
    is_right = episode.stop_reason == reason if reason else episode.stop_reason not in _BY_ENV
    if not is_right:
        yield Difference(turn, "stop_reason", episode.stop_reason, reason)
    if episode.terminated != is_terminated:
        yield Difference(turn, "terminated", episode.terminated, is_terminated)
    if not (episode.terminated or episode.truncated):
        yield Difference(turn, "truncated", False, True)
