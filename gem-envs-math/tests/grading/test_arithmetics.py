"""The two arithmetics agree: equal in the field is equal in 200 digits, and the other way round."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gem_envs_math.grading.arithmetic.field import Field
from gem_envs_math.grading.arithmetic.grammar import compute
from gem_envs_math.grading.arithmetic.numeric import At, digits
from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.text.tokens import tokenize

LEAVES = st.sampled_from(
    ["x", "y", "1", "2", "3", "-1", "4", r"\pi", "i", r"\frac12", r"\sqrt{2}", r"\sqrt{12}", "0.5"]
)
SHAPES = [
    "({}+{})",
    "({}-{})",
    "({})({})",
    r"\frac{{{}}}{{{}}}",
    "({0})^{{2}}+{1}",
    r"\sqrt6({})+{}",
]


def _grown(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(str.format, st.sampled_from(SHAPES), parts, parts)


EXPRESSIONS = st.recursive(LEAVES, _grown, max_leaves=6)


@given(
    EXPRESSIONS,
    EXPRESSIONS,
    st.sampled_from(["{0}", "({0}+{1})-({1})", "{1}+({0})-({1})*1", "{1}"]),
)
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_equal_in_the_field_is_equal_in_digits(first: str, other: str, shape: str) -> None:
    pytest.importorskip("mpmath", reason="the extra `verify` is not installed")
    pair = tokenize(first), tokenize(shape.format(f"({first})", f"({other})"))
    try:
        field = Field()
        is_equal = field.equal(compute(pair[0], field), compute(pair[1], field))
        values = [[compute(tokens, At(point, digits())) for tokens in pair] for point in (0, 1)]
    except (Unread, ArithmeticError):
        assume(False)
    apart = [abs(a.number - b.number) > 2 * (a.error + b.error) for a, b in values]
    assert any(apart) != is_equal
