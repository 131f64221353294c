"""A gold with answers whose truth is known, and the pairs that come of it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

__all__ = ["FORMS", "Form", "Pair", "Problem", "form", "problem"]


class Pair(NamedTuple):
    """A gold, an answer, whether it is right, and where both come from."""

    gold: str
    answer: str
    is_right: bool
    change: str
    form: str


class Problem(NamedTuple):
    """A gold, and answers by the name of what was changed in it."""

    gold: str
    right: Mapping[str, str]
    wrong: Mapping[str, str]


class Form(NamedTuple):
    """A kind of golds: its name, how many problems are drawn of it, and how one is drawn."""

    name: str
    problems: int
    draw: Callable[[random.Random], Problem]


FORMS: list[Form] = []
"""Every form, in the order in which its module was imported."""

_NAME = re.compile("<([a-z][a-z0-9]*)>")


def form(
    problems: int = 5,
) -> Callable[[Callable[[random.Random], Problem]], Callable[[random.Random], Problem]]:
    """Return a decorator that adds a function to FORMS, under its own name."""

    def add(draw: Callable[[random.Random], Problem]) -> Callable[[random.Random], Problem]:
        FORMS.append(Form(draw.__name__.replace("_", " "), problems, draw))
        return draw

    return add


def problem(
    gold: str, right: Mapping[str, str], wrong: Mapping[str, str], **values: object
) -> Problem:
    r"""Return a problem in whose texts `<name>` is replaced by the value of that name.

    >>> problem(r"\frac{<a>}{2}", {"inline": "<a>/2"}, {}, a=7).right
    {'inline': '7/2'}
    """

    def filled(text: str) -> str:
        return _NAME.sub(lambda found: str(values.get(found[1], found[0])), text)

    return Problem(
        filled(gold),
        {change: filled(answer) for change, answer in right.items()},
        {change: filled(answer) for change, answer in wrong.items()},
    )
