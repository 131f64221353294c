"""Episodes as chat messages in the form that trainers take.

Knows nothing about which episodes are worth training on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gem.content import ImagePart, Message
from gem.conversation import Conversation
from gem.episode import Episode
from gem_eval.exporting.json_text import json_text

__all__ = ["chat_rows", "conversation", "prompts_and_answers", "write_lines"]

Row = Mapping[str, Any]


class _ImageMet(Exception):
    """A conversation shows an image, and the rows so far have plain text as content."""


def conversation(episode: Episode) -> list[Message]:
    """Return what the policy was shown and answered, up to the last answer that was taken."""
    talk = Conversation(rewrites_history=episode.rewrites_history)
    for turn in episode.played_turns:
        talk.observe(turn.observation, {"suffix": turn.suffix})
        talk.answer(turn.message())
    return list(talk.messages)


def prompts_and_answers(episode: Episode) -> Iterator[tuple[list[Message], Message]]:
    """Yield each prompt with its answer, of an episode that wrote every prompt anew."""
    for turn in episode.played_turns:
        talk = Conversation(rewrites_history=True)
        talk.observe(turn.observation, {"suffix": turn.suffix})
        yield list(talk.messages), turn.message()


def chat_rows(
    messages: Sequence[Message], before: Sequence[Message] = (), *, with_parts: bool
) -> list[dict[str, Any]]:
    """Return messages as dicts; the answer of a tool has the name of the tool that was called.

    `before` are those that come first, where a call may stand. Content is text, and with
    `with_parts` a list of parts: one file has one of both, because a column has one type. Raises
    _ImageMet where there is an image and no part may be.
    """
    names = _called(before)
    rows = []
    for message in messages:
        # As they come: an id names one call of an answer, and a later answer may use it again.
        names |= _called([message])
        rows.append(_chat_row(message, names, with_parts=with_parts))
    return rows


def _called(messages: Sequence[Message]) -> dict[str, str]:
    """Return the names of the tools that were called, by the id of the call, the last one's."""
    return {call.id: call.name for message in messages for call in message.tool_calls}


def _chat_row(message: Message, names: Mapping[str, str], *, with_parts: bool) -> dict[str, Any]:
    row = message.to_chat()
    if not with_parts:
        if _has_image(message):
            raise _ImageMet
        row["content"] = message.text
    elif isinstance(row["content"], str):
        row["content"] = [{"type": "text", "text": row["content"]}]
    if message.call_id is not None and message.call_id in names:
        row["name"] = names[message.call_id]
    return row


def _has_image(message: Message) -> bool:
    return not isinstance(message.content, str) and any(
        isinstance(part, ImagePart) for part in message.content
    )


def write_lines(draft: Path, rows: Callable[[bool], Iterable[Row]]) -> int:
    """Write rows as JSON lines and return how many.

    `rows` is asked for rows of text first, and, where one of them turns out to show an image, for
    all of them again, with parts.
    """
    try:
        return _write(draft, rows(False))
    except _ImageMet:
        return _write(draft, rows(True))


def _write(draft: Path, rows: Iterable[Row]) -> int:
    num_rows = 0
    with draft.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(f"{json_text(row)}\n")
            num_rows += 1
    return num_rows
