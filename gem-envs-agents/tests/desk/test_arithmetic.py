from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_envs_agents.desk.arithmetic import calculate
from gem_envs_agents.desk.tool import Refusal


@pytest.mark.parametrize(
    ("expression", "value"),
    [("1 + 2 * 3", "7.0"), ("-(2 - 5) / 4", "0.75"), ("2 - -2", "4.0"), ("0.1 + 0.2", "0.3")],
)
def test_it_calculates_as_written(expression: str, value: str) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression", ["", "1 +", "2 ** 3", "1/0", "(1", "1)", "__import__('os')", "9" * 499, "(" * 99]
)
def test_what_is_no_sum_is_refused(expression: str) -> None:
    with pytest.raises(Refusal):
        calculate(expression)


@given(st.text("0123456789.+-*/() ", max_size=60))
def test_nothing_else_is_raised(expression: str) -> None:
    with contextlib.suppress(Refusal):
        float(calculate(expression))
