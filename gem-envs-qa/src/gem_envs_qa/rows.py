"""What these environments need of a row: a question, and the answers or options that go with it."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gem.data import Misfit, RowKind, is_text
from gem_envs_qa.options import LETTERS, are_distinct, meant, unlettered

__all__ = ["Chosen", "Open", "chosen_kind", "open_kind"]


_LARGEST_WHOLE = 2.0**53  # above it not every whole number is a float


class Open(NamedTuple):
    """A question and every answer that is accepted. `context` may be empty."""

    question: str
    answers: tuple[str, ...]
    context: str


class Chosen(NamedTuple):
    """A question, its options without letters, and the place of the right one, from 0."""

    question: str
    options: tuple[str, ...]
    right: int
    context: str


def _open(row: Mapping[str, Any]) -> Open:
    answers = row["answer"]
    accepted = answers if _is_list(answers) else [answers]
    texts = tuple(text for value in accepted for text in _accepted(value))
    if not texts or not all(texts):
        raise Misfit("answer", answers, "an answer that is not empty, or a list of such answers")
    return Open(_text(row, "question"), texts, _context(row))


_BARE = RowKind("question", read=_open, needs=("question", "answer"))
_IN_CONTEXT = RowKind(
    "question", read=_open, needs=("question", "answer"), optional={"context": ""}
)


def open_kind(*, shows_context: bool) -> RowKind[Open]:
    """Return the kind of rows with accepted answers, whose context is read or left alone."""
    return _IN_CONTEXT if shows_context else _BARE


@functools.lru_cache(maxsize=64)
def chosen_kind(options: tuple[str, ...] | None, *, shows_context: bool) -> RowKind[Chosen]:
    """Return the kind of rows with options of their own, or all with the same ones.

    Equal arguments give the same kind, so that environments share a table.
    """
    # A partial function, and no closure: the options tell kinds apart that are otherwise alike, so
    # that a file on disk that was checked with some is checked again with others.
    read = functools.partial(_chosen, options)
    needs = ("question", "answer") if options is not None else ("question", "options", "answer")
    optional = {"context": ""} if shows_context else {}
    return RowKind("question with options", read=read, needs=needs, optional=optional)


def _chosen(shared: tuple[str, ...] | None, row: Mapping[str, Any]) -> Chosen:
    """Read a row with the options that all rows share, or with its own."""
    texts = _options(row["options"]) if shared is None else shared
    answer = row["answer"]
    right = meant(_answer(answer), texts)
    if right is None:
        raise Misfit("answer", answer, f"the letter or the text of one of {list(texts)!r:.200}")
    return Chosen(_text(row, "question"), texts, right, _context(row))


def _options(options: Any) -> tuple[str, ...]:
    if _is_list(options) and 2 <= len(options) <= len(LETTERS):
        texts = unlettered([_answer(option) for option in options])
        if all(texts) and are_distinct(texts):
            return texts
    wanted = "a list of 2 to 26 texts that differ, and none that is a letter of another"
    raise Misfit("options", options, wanted)


def _accepted(value: Any) -> tuple[str, ...]:
    """Return each text that is right where a row has this answer; an empty one where it is none.

    Tables write what people write otherwise: a whole number as a float, where a column has gaps,
    and yes and no as a boolean.
    """
    text = _answer(value)
    if isinstance(value, bool):
        return ("yes" if value else "no", text)
    if isinstance(value, float) and value.is_integer() and abs(value) <= _LARGEST_WHOLE:
        return (str(int(value)), text)
    return (text,)


def _answer(value: Any) -> str:
    """Return an answer as text; empty where it is none. Numbers and booleans are as Python's."""
    if isinstance(value, str):
        return value.strip() if is_text(value) else ""
    if isinstance(value, (bool, int)):
        return str(value)
    return str(value) if isinstance(value, float) and math.isfinite(value) else ""


def _context(row: Mapping[str, Any]) -> str:
    return _text(row, "context") if row.get("context") else ""


def _text(row: Mapping[str, Any], field: str) -> str:
    value = row[field]
    if not is_text(value):
        raise Misfit(field, value, "text")
    text: str = value.strip()
    return text


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
