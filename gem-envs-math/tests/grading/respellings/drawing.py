"""Draw every pair: the same from the same seed, in every process."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from . import forms  # noqa: F401  # importing them fills FORMS
from .local import golds, respelt
from .looks import LOOKS
from .problem import FORMS, Pair, Problem

__all__ = ["DATA", "draw_forms", "draw_local"]

DATA = Path(__file__).parents[5] / "shared" / "data"
"""Where local collections lie, beside the checkout."""

_OF_EACH = 3  # right ones and wrong ones of a local gold
_MOST_INTEGERS = 150  # of a collection: they are alike
_LOOKS_OF_A_PROBLEM = 2


def draw_forms(seed: int = 0) -> list[Pair]:
    """Return the pairs over the forms' golds: distinct, in the forms' order."""
    pairs: dict[tuple[str, str], Pair] = {}
    for form in FORMS:
        rng = random.Random(f"{seed} {form.name}")
        for _ in range(form.problems):
            drawn = form.draw(rng)
            for pair in (*_pairs(drawn, form.name), *_looks(drawn, form.name, rng)):
                pairs.setdefault(pair[:2], pair)
    return list(pairs.values())


def draw_local(seed: int = 0, data: Path = DATA) -> list[Pair]:
    """Return the pairs over the local golds, [] where there is no collection."""
    pairs: dict[tuple[str, str], Pair] = {}
    for name, answers in golds(data).items():
        rng = random.Random(f"{seed} {name}")
        integers = [gold for gold in answers if gold.removeprefix("-").isdigit()]
        others = [gold for gold in answers if not gold.removeprefix("-").isdigit()]
        few = rng.sample(integers, min(len(integers), _MOST_INTEGERS))
        for gold in (*few, *others):
            drawn = _few(respelt(gold, rng), rng)
            for pair in (*_pairs(drawn, name), *_looks(drawn, name, rng)):
                pairs.setdefault(pair[:2], pair)
    return list(pairs.values())


def _few(problem: Problem, rng: random.Random) -> Problem:
    sides = []
    for answers in (problem.right, problem.wrong):
        names = sorted(answers)
        chosen = rng.sample(names, min(len(names), _OF_EACH))
        sides.append({name: answers[name] for name in chosen})
    return Problem(problem.gold, *sides)


def _pairs(problem: Problem, name: str) -> Iterator[Pair]:
    for is_right, answers in ((True, problem.right), (False, problem.wrong)):
        for change, answer in answers.items():
            if answer != problem.gold:
                yield Pair(problem.gold, answer, is_right, change, name)


def _looks(problem: Problem, name: str, rng: random.Random) -> Iterator[Pair]:
    """Yield answers that look otherwise: right ones from the gold, wrong ones from wrong ones."""
    fitting = [look for look in LOOKS if LOOKS[look](problem.gold) is not None]
    for look in rng.sample(fitting, min(len(fitting), _LOOKS_OF_A_PROBLEM)):
        answer = LOOKS[look](problem.gold)
        if answer is not None:
            yield Pair(problem.gold, answer, True, f"looks: {look}", name)
    if problem.wrong:
        change = rng.choice(sorted(problem.wrong))
        look = rng.choice(list(LOOKS))
        answer = LOOKS[look](problem.wrong[change])
        if answer is not None:
            yield Pair(problem.gold, answer, False, f"{change}, looks: {look}", name)
