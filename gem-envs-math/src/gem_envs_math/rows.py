"""What a row of mathematics must have: a question and its answer, and maybe images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from gem.data import Graded, Misfit, RowKind, is_text
from gem_envs_math.answers import boxed, last_boxed, read_number
from gem_envs_math.grading.golds import standing
from gem_envs_math.judging import REQUIRES, Grader

__all__ = ["FIGURES", "PROBLEMS", "Problem"]


_MISSING = ("nan", "<na>", "nat")
"""What tables write where there is no value; no answer of mathematics is spelled so."""


class Problem(NamedTuple):
    """One question and its answer, and what each image of it is read from."""

    question: str
    answer: str
    images: tuple[object, ...] = ()


def _read(row: Mapping[str, Any], grader: Grader) -> Problem:
    r"""Return the problem that a row is.

    An answer may be a number, a text, or a list of one of them. Where the text has a `####`, as
    in the first publication of GSM8K, the answer is what follows the last one; where it has a
    `\boxed{}`, what that holds.
    """
    question = row["question"]
    answer = row["answer"]
    if not is_text(question):
        raise Misfit("question", question, "text")
    if isinstance(answer, list) and len(answer) == 1:
        [answer] = answer
    if isinstance(answer, (int, float, Decimal)) and not isinstance(answer, bool):
        answer = str(answer)
    gold = answer.rpartition("####")[2].strip() if isinstance(answer, str) else ""
    gold = last_boxed(gold) or gold
    _check_gold(gold, row["answer"], grader)
    return Problem(question, gold)


def _check_gold(gold: str, value: object, grader: Grader) -> None:
    if grader == "number" and read_number(gold) is None:
        raise Misfit("answer", value, "a number")
    if gold.lower() in _MISSING:
        raise Misfit("answer", value, "an answer")
    if not is_text(gold) or last_boxed(boxed(gold)) != gold:
        raise Misfit("answer", value, "a text whose braces are balanced")


def _read_figures(row: Mapping[str, Any], grader: Grader) -> Problem:
    images = row["images"]
    images = tuple(images) if isinstance(images, (list, tuple)) else (images,)
    if not images or None in images:
        raise Misfit("images", row["images"], "an image or a list of images")
    return _read(row, grader)._replace(images=images)


def _graded(problem: Problem, grader: Grader) -> Graded:
    if grader == "number":
        return Graded("its number", problem.answer)
    by, trouble = standing(problem.answer)
    return Graded(_NAMES[by], problem.answer, trouble)


_NAMES = {
    "rules": "the rules of docs/grading.md",
    "words": "the same words",
    "math-verify": "math-verify alone, if it reads the gold (not asked here)",
    "nothing": "nothing",
}


def _kinds(
    name: str, read: Callable[..., Problem], *more: str
) -> Mapping[Grader, RowKind[Problem]]:
    needs = ("question", "answer", *more)
    kinds = {}
    for grader in REQUIRES:
        graded = partial(_graded, grader=grader)
        reads = partial(read, grader=grader)
        kinds[grader] = RowKind(name, read=reads, needs=needs, graded=graded)
    return kinds


PROBLEMS = _kinds("math problem", _read)
"""The rows of `DatasetMath`, by its grader."""

FIGURES = _kinds("visual problem", _read_figures, "images")
"""The rows of `VisualMath`, likewise."""
