"""Actions of every space are told, read, made values of the space and sampled; none crashes it."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import pytest

pytest.importorskip("pettingzoo", reason="gem-integrations' extra `pettingzoo` is not installed")

import numpy as np
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from gem_integrations.pettingzoo.actions import (
    RefusedAction,
    can_be_read,
    form_of,
    legal_of,
    read,
    sampled,
    value_of,
)
from gem_integrations.pettingzoo.describing import described

SPACES: dict[str, spaces.Space[Any]] = {
    "a whole number from 2 to 4": spaces.Discrete(3, start=2),
    "a JSON list of 2 whole numbers, from [0, 0] to [2, 4]": spaces.MultiDiscrete([3, 5]),
    "a JSON list of 2 x 2 whole numbers, each 0 or 1": spaces.MultiBinary((2, 2)),
    "a JSON list of 2 numbers, from -1 to 1": spaces.Box(-1, 1, (2,)),
    "a JSON list of 2 whole numbers, from [0, 1] to [2, 3]": spaces.Box(
        np.array([0, 1], np.uint8), np.array([2, 3], np.uint8), dtype=np.uint8
    ),
    "a number from 0 to 0.5": spaces.Box(0, 0.5, ()),
    "a text of 1 to 3 characters of ab": spaces.Text(3, charset="ab"),
    'a JSON object of "go", a whole number from 0 to 1; "to", a text of 1 to 2 characters of x': (
        spaces.Dict({"go": spaces.Discrete(2), "to": spaces.Text(2, charset="x")})
    ),
    "a JSON list of 2: a whole number from 0 to 1; a JSON list of 1 whole numbers, each 0 or 1": (
        spaces.Tuple((spaces.Discrete(2), spaces.MultiBinary(1)))
    ),
}
each_space = pytest.mark.parametrize(("form", "space"), SPACES.items(), ids=list("abcdefghi"))


@each_space
def test_a_form_is_told_and_a_sample_has_it(form: str, space: spaces.Space[Any]) -> None:
    text = sampled(space, None, random.Random(1))

    assert form_of(space) == form
    assert can_be_read(space)
    assert space.contains(value_of(space, read(space, f"I think {text}.")))


@each_space
@settings(deadline=None, max_examples=40)
@given(
    text=st.text() | st.sampled_from(["[[]]", "[1e999]", "[1,[2]]", '{"go":0}', "[1e39,0]", "-1"])
)
def test_no_text_raises_anything_but_a_refusal(
    form: str, space: spaces.Space[Any], text: str
) -> None:
    with contextlib.suppress(RefusedAction):
        assert space.contains(value_of(space, read(space, text)))


@pytest.mark.parametrize(
    ("space", "plain"),
    [
        (spaces.Discrete(3), True),
        (spaces.Discrete(3), 1.0),
        (spaces.MultiDiscrete([3, 5]), [1, 5]),
        (spaces.MultiDiscrete([3, 5]), [1.0, 2.0]),
        (spaces.MultiBinary(1), [256]),  # it would be 0 as a byte
        (spaces.Box(-1, 1, (2,)), [0, 1.5]),
        (spaces.Box(-1, 1, (2,)), [0, 1e300]),
        (spaces.Box(-1, 1, (2,)), ["0", "1"]),
        (spaces.Text(3, charset="ab"), "c"),
        (spaces.Dict({"go": spaces.Discrete(2)}), {"go": 1, "to": 1}),
        (spaces.Tuple((spaces.Discrete(2),)), [1, 1]),
    ],
)
def test_what_is_not_in_the_space_is_invalid(space: spaces.Space[Any], plain: Any) -> None:
    with pytest.raises(RefusedAction, match="It is not ") as caught:
        value_of(space, plain)

    assert caught.value.kind == "invalid"


def test_a_mask_says_what_is_legal_and_samples_keep_to_it() -> None:
    space = spaces.Discrete(4, start=1)
    mask = np.array([0, 0, 1, 0], np.int8)

    samples = {sampled(space, mask, random.Random(seed)) for seed in range(20)}

    assert legal_of(space, mask) == "3"
    assert samples == {r"\boxed{3}"}
    assert value_of(space, 3, mask) == 3
    with pytest.raises(RefusedAction, match="It is not legal now"):
        value_of(space, 2, mask)


def test_many_legal_actions_are_cut() -> None:
    legal = legal_of(spaces.Discrete(150), np.ones(150, np.int8))

    assert legal is not None
    assert legal.endswith("98, 99 and 50 more")


def test_sampling_leaves_the_games_own_generator_alone() -> None:
    space = spaces.Discrete(1000, seed=1)
    other = spaces.Discrete(1000, seed=1)

    sampled(space, None, random.Random(1))

    assert space.sample() == other.sample()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        ("Your move.", "Your move."),
        (np.array([True, False]), "1 0"),
        (np.array([[1, 2], [3, 4]]), "1 2\n3 4"),
        (np.array([[[2]], [[3]], [[4]]]), "Plane 0:\n2\n3\n4"),
        (np.eye(30), "An array of 30 x 30, 0 but for (0, 0): 1, "),
        (np.zeros(500), "An array of 500, 0 but for nothing"),
        ({"a": {"b": (1, np.array([2, 3]))}}, "a: b: 1; 2 3"),
    ],
)
def test_an_observation_is_shown_as_numbers_rows_and_names(value: Any, text: str) -> None:
    assert described(value).startswith(text)
