"""Statistics of ours are those of statsmodels, on random cases."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_eval.comparing.paired import Pair, chance_of_signs, holm
from gem_eval.intervals import wilson

WHY = "an oracle for tests alone"
contingency_tables = pytest.importorskip("statsmodels.stats.contingency_tables", reason=WHY)
multitest = pytest.importorskip("statsmodels.stats.multitest", reason=WHY)
proportion = pytest.importorskip("statsmodels.stats.proportion", reason=WHY)

COUNTS = st.integers(0, 40)


@pytest.fixture(scope="module", autouse=True)
def frozen() -> None:
    """Let statsmodels, which collects garbage in each call, pass over what other tests left."""
    gc.collect()
    gc.freeze()


@given(st.integers(1, 3_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilsons_interval_is_that_of_statsmodels(pair: tuple[int, int]) -> None:
    expected = proportion.proportion_confint(*pair, method="wilson")

    assert wilson(pair[0] / pair[1], pair[1]) == pytest.approx(expected)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_chance_of_signs_of_outcomes_is_the_exact_test_of_mcnemar(
    both: int, won: int, lost: int, neither: int
) -> None:
    rates = [(1, 1)] * both + [(0, 1)] * won + [(1, 0)] * lost + [(0, 0)] * neither

    expected = contingency_tables.mcnemar([[both, lost], [won, neither]], exact=True).pvalue

    chance, _ = chance_of_signs([[Pair(float(first), float(second))] for first, second in rates])
    assert chance == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holms_correction_is_that_of_statsmodels(chances: list[float]) -> None:
    _, expected, _, _ = multitest.multipletests(chances, method="holm")

    assert holm(chances) == pytest.approx(expected)
