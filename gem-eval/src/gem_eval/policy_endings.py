"""Read of an episode which error of its policy ended it. Knows nothing about runs."""

from __future__ import annotations

from gem.episode import Episode
from gem_eval.errors import (
    PolicyError,
    RequestRefusedError,
    ServerFailureError,
    ServerRefusalError,
    UnreadableReplyError,
)

__all__ = ["ended_by", "error_text", "refusal_in"]


def ended_by(episode: Episode, kind: type[PolicyError]) -> bool:
    """Say whether this error ended the episode: its record has the error's class and text."""
    prefix = f"{kind.__module__}.{kind.__qualname__}: "
    return episode.stop_reason == "policy_error" and (episode.error or "").startswith(prefix)


def refusal_in(episode: Episode) -> str | None:
    """Return what is alike in episodes that the same refusal ended; None for any other end.

    Refusals for good may differ in their text, by the number of the request. A request may be
    refused, or be what a server fails at, for what is in it, or its answer be unreadable: only the
    same words, again and again, are about all requests.
    """
    if ended_by(episode, ServerRefusalError):
        return ServerRefusalError.__name__
    about_one_request = (RequestRefusedError, ServerFailureError, UnreadableReplyError)
    return episode.error if any(ended_by(episode, kind) for kind in about_one_request) else None


def error_text(episode: Episode) -> str:
    """Return what the error that ended an episode says, without its class."""
    return (episode.error or "").partition(": ")[2]
