"""What a row of mathematics must have: a question, and a number as its answer."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from gem.data import Misfit, RowKind
from gem_envs_math.answers import read_number

__all__ = ["PROBLEMS", "Problem"]


class Problem(NamedTuple):
    """One question and its answer, a text that `read_number` reads."""

    question: str
    answer: str


def _read(row: Mapping[str, Any]) -> Problem:
    """Return the problem that a row is.

    An answer may be a number or a text; where the text has a `####`, as in the first
    publication of GSM8K, the answer is what follows the last one.
    """
    question, answer = row["question"], row["answer"]
    if not isinstance(question, str) or not _is_text(question):
        raise Misfit("question", question, "text")
    if isinstance(answer, (int, float, Decimal)) and not isinstance(answer, bool):
        answer = str(answer)
    number = answer.rpartition("####")[2].strip() if isinstance(answer, str) else ""
    if read_number(number) is None:
        raise Misfit("answer", row["answer"], "a number")
    return Problem(question, number)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can spell
        return False
    return bool(value.strip())


PROBLEMS = RowKind("math problem", read=_read, needs=("question", "answer"))
"""The rows of `DatasetMath`."""
