"""Counts, times and seeds: what is taken, and the one line that refuses the rest."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("numpy", reason="gem-core's extra `vector` is not installed")

import numpy as np

from gem._python.quantities import (
    check_count,
    check_count_or_all,
    check_seed,
    check_timeout,
    check_wait,
    is_seed,
)
from gem.errors import BadArguments


@pytest.mark.parametrize("value", [0, -1, 1.0, "3", True, None])
def test_a_count_is_an_int_from_1_on(value: Any) -> None:
    with pytest.raises(BadArguments) as caught:
        check_count("num_workers", value)

    assert str(caught.value) == f"num_workers={value!r} was asked for. It is an int from 1 on."
    assert caught.value.subject == "num_workers"


def test_a_count_may_begin_lower_and_may_be_optional() -> None:
    check_count("policy_retries", 0, least=0)
    check_count("max_turns", None, is_optional=True)

    with pytest.raises(BadArguments, match="an int from 1 on, or None"):
        check_count("max_turns", 0, is_optional=True)


@pytest.mark.parametrize("value", [0, "some", True])
def test_a_count_of_episodes_is_a_count_or_all(value: Any) -> None:
    check_count_or_all("episodes", "all")
    check_count_or_all("episodes", 3)

    with pytest.raises(BadArguments, match="from 1 on, or 'all'"):
        check_count_or_all("episodes", value)


@pytest.mark.parametrize("value", [0, -0.5, float("nan"), "3", True])
def test_a_timeout_is_a_number_of_seconds_above_0(value: Any) -> None:
    with pytest.raises(BadArguments, match="a number of seconds above 0, or None"):
        check_timeout("step_timeout_s", value)


@pytest.mark.parametrize("value", [None, 3, 0.5, np.float32(2), float("inf")])
def test_a_timeout_may_be_absent_or_endless(value: Any) -> None:
    check_timeout("step_timeout_s", value)


def test_a_timeout_that_may_be_zero_says_so() -> None:
    check_timeout("timeout_s", 0, may_be_zero=True)

    with pytest.raises(BadArguments, match="from 0 on, or None"):
        check_timeout("timeout_s", -1, may_be_zero=True)


@pytest.mark.parametrize("value", [-0.1, float("inf"), float("nan"), None, "1"])
def test_a_wait_ends(value: Any) -> None:
    check_wait("retry_wait_s", 0)

    with pytest.raises(BadArguments, match="a number of seconds from 0 on"):
        check_wait("retry_wait_s", value)


@pytest.mark.parametrize("value", [-5, 10**30, np.int64(3)])
def test_any_int_is_a_seed(value: Any) -> None:
    check_seed("seed", value)

    assert is_seed(value)


@pytest.mark.parametrize("value", ["0", 1.5, None, True])
def test_what_is_no_int_is_no_seed(value: Any) -> None:
    with pytest.raises(BadArguments, match=r"seed=.* was asked for\. A seed is an int"):
        check_seed("seed", value)

    assert not is_seed(value)


def test_a_value_that_is_refused_is_shown_at_no_great_length() -> None:
    with pytest.raises(BadArguments) as caught:
        check_count("num_workers", "7" * 10_000)

    assert len(str(caught.value)) < 200
