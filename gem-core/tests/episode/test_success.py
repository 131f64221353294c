"""When an episode is a success: its last info says so, or else its return is enough."""

from __future__ import annotations

import pytest

from gem.episode import is_success
from gem.specs import EnvSpec

TEN = EnvSpec(id="demo:Ten", target="demo:Ten", success_return=10.0)


def test_success_is_what_info_says() -> None:
    assert not is_success({"success": False}, 50.0, TEN)
    assert is_success({"success": True}, 0.0, TEN)


@pytest.mark.parametrize(
    ("total", "succeeded"), [(10.0, True), (sum([0.1] * 100), True), (9.9, False)]
)
def test_without_a_word_on_it_success_is_the_return_that_the_spec_names(
    total: float, succeeded: bool
) -> None:
    assert is_success({}, total, TEN) == succeeded


def test_without_a_spec_success_is_a_return_of_one() -> None:
    assert is_success({}, 1.0, None)
    assert not is_success({}, 0.9, None)
