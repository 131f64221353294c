"""Turn what an environment returned into text for a prompt. Knows nothing about wrappers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gem.content import ImagePart, Message, Observation
from gem.conversation import Conversation

__all__ = ["joined", "new_messages", "new_text"]


def new_messages(observation: Observation, info: Mapping[str, Any]) -> tuple[Message, ...]:
    """Return the messages that a conversation would add, `info["suffix"]` with the last.

    Raises TypeError on an image, which one text cannot hold.
    """
    # A conversation of its own, so that the rules for suffixes and roles are those of any other.
    talk = Conversation()
    talk.observe(observation, info)
    for message in talk.messages:
        if _has_image(message):
            raise TypeError(
                "A prompt wrapper was given an observation with an image, and a prompt is text. "
                "Leave the wrapper out: the conversation then carries the image."
            )
    return tuple(talk.messages)


def _has_image(message: Message) -> bool:
    content = message.content
    return not isinstance(content, str) and any(isinstance(part, ImagePart) for part in content)


def new_text(observation: Observation, info: Mapping[str, Any]) -> str:
    """Return the text of those messages, one below the other."""
    return joined(*(message.text for message in new_messages(observation, info)))


def joined(*pieces: str) -> str:
    r"""Join pieces by one newline, empty ones left out.

    >>> joined("", "a", "", "b")
    'a\nb'
    """
    return "\n".join(filter(None, pieces))
