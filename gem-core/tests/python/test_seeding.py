"""Seeds: keyed, never counted."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

pytest.importorskip("numpy", reason="gem-core's extra `vector` is not installed")

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gem._python.seeding import episode_seed, key_seed, seeds_under, stream

Keys = st.lists(st.integers() | st.text(st.characters(), max_size=20), max_size=4)


@given(Keys)
def test_keys_always_give_the_same_seed(keys: list[int | str]) -> None:
    assert key_seed(*keys) == key_seed(*keys)
    assert 0 <= key_seed(*keys) < 2**63


@given(Keys, Keys)
def test_other_keys_give_another_seed(keys: list[int | str], others: list[int | str]) -> None:
    assert (key_seed(*keys) == key_seed(*others)) == (keys == others)


def test_seeds_are_the_same_in_every_version() -> None:
    assert key_seed("env", 5) == 2328193382040686203
    assert episode_seed(1, 2, 3) == 4040866264219390997
    assert [key_seed(2**1023 - 1), key_seed(2**1023)] == [
        3941299704827417300,  # in decimal
        5049865801312485512,  # in hexadecimal
    ]


def test_numbers_of_every_size_differ() -> None:
    numbers = [0, -1, 1, 2**63, 2**64, 10**5000, -(10**5000), 10**5000 + 1]
    assert len({key_seed(number) for number in numbers}) == len(numbers)


def test_a_number_and_its_spelling_differ() -> None:
    assert key_seed(1) != key_seed("1")
    assert key_seed(2**2000) != key_seed(hex(2**2000))
    assert key_seed("a', 'b") != key_seed("a", "b")


def test_an_integer_of_numpy_is_the_same_key() -> None:
    int_of_numpy: Any = np.int64(7)
    assert key_seed(int_of_numpy, "a") == key_seed(7, "a")


def test_a_lone_surrogate_is_a_key() -> None:
    assert key_seed("\ud800") != key_seed("\ud801")


def test_episode_seeds_of_a_run_are_all_different() -> None:
    seeds = {episode_seed(*place) for place in product(range(4), range(10), range(50))}
    assert len(seeds) == 4 * 10 * 50


def test_streams_depend_on_their_keys_alone() -> None:
    first = stream(7, "deal").random()
    stream(7, "other").random()
    random.seed(1)
    assert stream(7, "deal").random() == first
    assert stream(7, "draw").random() != first


@pytest.mark.parametrize(
    "key",
    [
        0,
        7,
        -1,
        2**63 - 1,
        -(2**63),
        2**63,
        2**1023 - 1,
        -(2**1023),
        2**1023,
        10**400,
        np.int64(3),
        True,
    ],
)
def test_seeds_under_keys_are_those_of_all_keys(key: int) -> None:
    assert seeds_under("episode", "é", -5)(key) == key_seed("episode", "é", -5, key)
