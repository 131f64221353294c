"""What a chat template writes around an answer of the model, read off what it renders.

Knows nothing about tokens.
"""

from __future__ import annotations

from typing import NamedTuple

from gem_train.tokens._calling import Chat, Tools

__all__ = ["MARK", "Base", "base_of", "end_of"]

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


def end_of(rendered: str, answer: str, at: int, lead: str | None) -> int | None:
    """Return where an answer ends in what a template wrote, from `at` on; None: it is not there.

    Templates may trim an answer. `lead` is what may stand before it, None where anything may.
    """
    for wanted in (answer, answer.strip()):
        if lead is None:
            begin = rendered.find(wanted, at)
        elif rendered.startswith(wanted, at):  # an answer may begin with the same space
            begin = at
        elif rendered.startswith(lead + wanted, at):
            begin = at + len(lead)
        else:
            begin = -1
        if begin >= 0:
            return begin + len(wanted)
    return None
