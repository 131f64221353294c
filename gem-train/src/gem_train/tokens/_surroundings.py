"""What a chat template writes around an answer of the model, read off what it renders.

Knows nothing about tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gem_train.tokens._calling import Chat, Tools

__all__ = ["MARK", "Base", "are_shown", "base_of", "end_of"]

MARK = "zqxj7"
"""Stands for an answer of the model where a template is tried. It is in no template."""


class Base(NamedTuple):
    """A conversation to render turns after.

    `head` is what the template writes before an answer, None where it writes that anew with every
    turn. `opener` is what it puts into the model's mouth, such as `<think>`. `lead` is the white
    space that it writes before an answer that was given, and not before one that is to come.
    `tail` is what follows an answer.
    """

    chat: Chat
    tools: Tools  # those that the template lists in it
    head: str | None
    opener: str
    lead: str
    tail: str


def base_of(chat: Chat, tools: Tools, opened: str, followed: str) -> Base:
    """Compare what the model is given with what the template shows of it once it has spoken."""
    head, mark, tail = followed.partition(MARK)
    if mark and opened.startswith(head):
        return Base(chat, tools, head, opened[len(head) :], "", tail)
    if mark and head.startswith(opened):
        between = head[len(opened) :]
        return Base(chat, tools, opened, "", between if between.isspace() else "", tail)
    return Base(chat, tools, None, "", "", tail)


def end_of(rendered: str, answer: str, at: int, lead: str) -> int | None:
    """Return where an answer ends that a template wrote at a place; None: it is not there.

    Templates may trim an answer. `lead` is what may stand before it.
    """
    for wanted in (answer, answer.strip()):
        if rendered.startswith(wanted, at):  # an answer may begin with the same space
            return at + len(wanted)
        if rendered.startswith(lead + wanted, at):
            return at + len(lead) + len(wanted)
    return None


def are_shown(answers: Sequence[str], rendered: str, at: int, lead: str) -> bool:
    """Say whether answers stand in what a template wrote, in their order, the first at a place.

    Between them anything may stand: the results of tools, and what opens the model's next message.
    Templates may trim an answer. `lead` is what may stand before the first.
    """
    first, *others = answers
    end = end_of(rendered, first, at, lead)
    if end is None:
        return False
    for answer in others:
        place = rendered.find(answer.strip(), end)
        if place < 0:
            return False
        end = place + len(answer.strip())
    return True
