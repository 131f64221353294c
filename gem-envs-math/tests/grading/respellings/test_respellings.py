"""What the respellings show of the grader: few verdicts on them are wrong."""

from __future__ import annotations

import random
from collections.abc import Sequence
from importlib.util import find_spec

import pytest

from gem_envs_math.judging import judge

from .drawing import DATA, draw_forms, draw_local
from .problem import FORMS, Pair
from .proving import proven

FORM_PAIRS = draw_forms()
LOCAL_PAIRS = draw_local()

needs_math_verify = pytest.mark.skipif(
    find_spec("math_verify") is None, reason="the extra `verify` is not installed"
)
needs_local_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="there are no local collections beside this checkout"
)


def sample(pairs: Sequence[Pair], *, is_right: bool, size: int) -> list[Pair]:
    """Return some of the pairs with this truth: the same ones in every process."""
    fitting = [pair for pair in pairs if pair.is_right == is_right]
    return random.Random(0).sample(fitting, min(size, len(fitting)))


def misjudged(pairs: Sequence[Pair]) -> list[Pair]:
    outcomes = [judge(pair.answer, pair.gold).outcome for pair in pairs]
    judged = zip(pairs, outcomes, strict=True)
    return [pair for pair, outcome in judged if (outcome == "right") != pair.is_right]


def test_there_are_two_thousand_pairs_over_a_hundred_forms() -> None:
    assert len(FORM_PAIRS) >= 2000
    assert len(FORMS) >= 100


def test_every_form_has_right_answers_and_wrong_ones() -> None:
    truths = {(pair.form, pair.is_right) for pair in FORM_PAIRS}
    assert truths == {(form.name, truth) for form in FORMS for truth in (True, False)}


def test_no_pair_stands_twice() -> None:
    texts = [pair[:2] for pair in FORM_PAIRS]
    assert len(texts) == len(set(texts))


def test_what_a_wrong_answer_shows_is_never_shown_by_a_right_one() -> None:
    for form in FORMS:
        rng = random.Random(form.name)
        for _ in range(50):
            drawn = form.draw(rng)
            assert {drawn.gold, *drawn.right.values()}.isdisjoint(drawn.wrong.values()), drawn


@pytest.mark.slow
@needs_math_verify
def test_of_a_thousand_wrong_answers_to_the_forms_at_most_one_passes() -> None:
    failing = misjudged(sample(FORM_PAIRS, is_right=False, size=1000))
    assert len(failing) <= 1, failing


@pytest.mark.slow
@needs_math_verify
def test_of_a_hundred_right_answers_to_the_forms_at_most_two_fail() -> None:
    failing = misjudged(sample(FORM_PAIRS, is_right=True, size=1000))
    assert len(failing) <= 20, failing


@pytest.mark.slow
@needs_math_verify
@needs_local_data
def test_of_a_thousand_wrong_answers_to_local_golds_at_most_one_passes() -> None:
    failing = misjudged(sample(LOCAL_PAIRS, is_right=False, size=1000))
    assert len(failing) <= 1, failing


@pytest.mark.slow
@needs_math_verify
@needs_local_data
def test_of_a_hundred_right_answers_to_local_golds_at_most_two_fail() -> None:
    failing = misjudged(sample(LOCAL_PAIRS, is_right=True, size=1000))
    assert len(failing) <= 20, failing


@pytest.mark.slow
@needs_math_verify  # which brings sympy, and its reader
@pytest.mark.parametrize("is_right", [True, False])
def test_sympy_finds_no_other_truth_than_a_pair_states(*, is_right: bool) -> None:
    pairs = sample([*FORM_PAIRS, *LOCAL_PAIRS], is_right=is_right, size=500)
    truths = {pair: proven(pair) for pair in pairs}
    assert sum(truth is not None for truth in truths.values()) > 20
    assert [pair for pair, truth in truths.items() if truth not in (None, is_right)] == []
