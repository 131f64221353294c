"""The credit that a token is shown with is its coefficient in the gradient: a model in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from gem import returns
from gem_eval.viewing import credit
from gem_eval.viewing.runs import Run
from gem_eval.viewing.token_query import TokenQuery

from .softmax import (
    ESTIMATORS,
    NORMS,
    VOCABULARY,
    batch_of,
    episodes,
    lines_of,
    log_probabilities,
    loss,
    said_of,
    shown_coefficients,
)

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("gem_train", reason="gem-eval's extra `tokens` is not installed")

STEP = 1e-5


def test_every_estimator_of_gem_returns_is_offered() -> None:
    shapes = {"to_tokens", "to_turns"}  # they estimate nothing

    assert set(credit.ESTIMATORS) == set(returns.__all__) - shapes == set(ESTIMATORS)
    assert set(credit.NORMALISERS) == set(NORMS)


@pytest.mark.parametrize(
    ("gamma", "norm"), [(1.0, "sum"), (0.9, "episodes"), (0.9, "tokens"), (0.5, "own_tokens")]
)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_shown_numbers_are_the_coefficients_of_the_gradient(
    opened_run: Run, estimator: str, gamma: float, norm: str
) -> None:
    query = TokenQuery(estimator=estimator, gamma=gamma, lam=0.8, norm=norm)
    table = np.random.default_rng(3).normal(size=(VOCABULARY, VOCABULARY))
    line = 2
    log = episodes()
    lines = batch_of(line, estimator)
    batch = [log[each - 1] for each in lines]

    shown = np.zeros_like(table)
    for each in lines:
        coefficients = shown_coefficients(opened_run, each, query)
        tokens = said_of(log[each - 1])
        for token, coefficient in zip(tokens, coefficients, strict=True):
            shown[token.before] -= coefficient * of_log(table, token.before, token.token)

    def loss_at(moved: NDArray[np.float64]) -> float:
        return loss(moved, batch, estimator, gamma=gamma, lam=0.8, norm=norm)

    differences = np.zeros_like(table)
    for place in np.ndindex(table.shape):
        moved = np.zeros_like(table)
        moved[place] = STEP
        differences[place] = (loss_at(table + moved) - loss_at(table - moved)) / (2 * STEP)
    assert np.abs(differences).max() > 1e-3
    np.testing.assert_allclose(shown, differences, rtol=1e-6, atol=1e-6 * abs(differences).max())


def of_log(table: NDArray[np.float64], before: int, token: int) -> NDArray[np.float64]:
    """The gradient of a token's log-probability by the logits after the token before it."""
    gradient: NDArray[np.float64] = -np.exp(log_probabilities(table)[before])
    gradient[token] += 1.0
    return gradient


def test_what_is_in_no_batch_has_no_credit(opened_run: Run) -> None:
    from gem_eval.viewing.token_page import token_values

    lines = lines_of(opened_run)
    others = [line for line in range(1, len(episodes()) + 1) if line not in lines]
    [error, _] = others

    values = token_values(opened_run, error, TokenQuery(by="adv"), None)

    assert len(lines) == 12
    assert values is not None
    assert values["unknown"] == (
        "This episode is in no batch, and has no credit: it ended by an error."
    )
