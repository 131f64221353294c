"""Make one observation of all that a seat was told: no chat ever has two user turns running.

Knows nothing about who tells it, or why.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem.content import Message, Observation, Part, TextPart

__all__ = ["joined"]


def joined(pieces: Sequence[str | Message]) -> Observation:
    r"""Return texts as one text, joined by newlines; with messages among them, as messages.

    Texts and messages of the user that follow each other become one message.

    >>> joined(["Your card is K.", "Bet or pass?"])
    'Your card is K.\nBet or pass?'
    >>> [message.role for message in joined([Message("system", "Be kind."), "Bet?", "Or pass?"])]
    ['system', 'user']
    """
    texts = [piece for piece in pieces if isinstance(piece, str)]
    if len(texts) == len(pieces):
        return "\n".join(texts)
    messages: list[Message] = []
    for piece in pieces:
        message = Message("user", piece) if isinstance(piece, str) else piece
        if messages and _are_of_user(messages[-1], message):
            messages[-1] = Message("user", _content(messages[-1], message))
        else:
            messages.append(message)
    return tuple(messages)


def _are_of_user(before: Message, after: Message) -> bool:
    return before.role == "user" and after.role == "user"


def _content(before: Message, after: Message) -> str | tuple[Part, ...]:
    if isinstance(before.content, str) and isinstance(after.content, str):
        return f"{before.content}\n{after.content}"
    return (*_parts(before.content), *_parts(after.content))


def _parts(content: str | tuple[Part, ...]) -> tuple[Part, ...]:
    return (TextPart(content),) if isinstance(content, str) else content
