"""Compare an answer with the accepted ones: exact match and F1. Knows nothing about environments.

Both are SQuAD's (arXiv 1606.05250) over the forms of `normalising`, the best over all accepted
answers. As in HotpotQA (arXiv 1809.09600), "yes" and "no" earn F1 only where both say the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from gem_envs_qa.normalising import normal_form

__all__ = ["LONGEST", "Metric", "Score", "score"]

LONGEST = 50_000
"""Characters of the longest answer that is compared; what is longer is wrong."""

Metric = Literal["em", "f1"]

_CLOSED = frozenset({"yes", "no"})


class Score(NamedTuple):
    """Exact match is 0.0 or 1.0; F1 of words is between, and 1.0 where they match exactly."""

    em: float
    f1: float


def score(answer: str, accepted: Sequence[str]) -> Score:
    """Compare an answer with each accepted one. An empty answer, or one over LONGEST, is wrong.

    >>> score("the Eiffel tower", ["Eiffel Tower", "La Tour Eiffel"])
    Score(em=1.0, f1=1.0)
    >>> score("tower of London", ["London"]).em
    0.0
    """
    answer_form = normal_form(answer) if len(answer) <= LONGEST else ""
    if not answer_form:
        return Score(0.0, 0.0)
    golds = [normal_form(gold) for gold in accepted]
    if answer_form in golds:
        return Score(1.0, 1.0)
    words = answer_form.split()
    return Score(0.0, max((_f1(words, gold.split()) for gold in golds), default=0.0))


def _f1(answer: list[str], gold: list[str]) -> float:
    if _CLOSED & {" ".join(answer), " ".join(gold)}:
        return 0.0
    common = sum((Counter(answer) & Counter(gold)).values())
    return 2 * common / (len(answer) + len(gold)) if common else 0.0
