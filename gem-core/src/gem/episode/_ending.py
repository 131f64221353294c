"""Whether a record says of its end what its last turn says."""

from __future__ import annotations

from collections.abc import Iterator

from gem.episode._episode import Episode

__all__ = ["ending_differences"]

_BY_ENV = ("terminated", "truncated")


def ending_differences(episode: Episode) -> Iterator[tuple[str, object, object]]:
    """Yield field, recorded and right value of each end that cannot be of these turns.

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
        yield "stop_reason", episode.stop_reason, reason
    if episode.terminated != is_terminated:
        yield "terminated", episode.terminated, is_terminated
    if not (episode.terminated or episode.truncated):
        yield "truncated", False, True
