"""The credit that a token is shown with is its coefficient in the gradient, by torch's autograd."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from gem import Episode
from gem_eval.viewing.runs import Run
from gem_eval.viewing.token_query import TokenQuery

from .softmax import (
    ESTIMATORS,
    NORMS,
    VOCABULARY,
    advantages,
    batch_of,
    episodes,
    said_of,
    share,
    shown_coefficients,
)

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("gem_train", reason="gem-eval's extra `tokens` is not installed")
if find_spec("torch") is None:
    pytest.skip("needs torch: nox -s others", allow_module_level=True)
pytestmark = pytest.mark.slow


class Model:
    """A small network, which gives tokens their log-probabilities by the token before each."""

    def __init__(self) -> None:
        import torch  # heavy: seconds

        self._torch = torch
        torch.manual_seed(0)
        self._embedding = torch.nn.Embedding(VOCABULARY, 4, dtype=torch.float64)
        self._head = torch.nn.Linear(4, VOCABULARY, dtype=torch.float64)

    def log_probabilities(self, episode: Episode) -> Any:
        said = list(said_of(episode))
        logits = self._head(self._embedding(self._torch.tensor([token.before for token in said])))
        picked = self._torch.tensor([token.token for token in said])
        column = logits.log_softmax(dim=-1).gather(1, picked[:, None])[:, 0]
        column.retain_grad()
        return column

    def gradient(self) -> Any:
        """Return the gradient of the weights, and forget it."""
        found = self._head.weight.grad
        self._head.weight.grad = None
        return found


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_autograd_gives_every_log_probability_the_shown_number(
    opened_run: Run, estimator: str, norm: str
) -> None:
    import torch

    model = Model()
    log = episodes()
    lines = batch_of(5, estimator)
    batch = [log[line - 1] for line in lines]
    query = TokenQuery(estimator=estimator, gamma=0.9, lam=0.8, norm=norm)

    columns = [model.log_probabilities(episode) for episode in batch]
    loss: Any = torch.zeros((), dtype=torch.float64)
    of_batch = advantages(estimator, batch, gamma=0.9, lam=0.8)
    for episode, of_episode, column in zip(batch, of_batch, columns, strict=True):
        weights = [of_episode[token.turn] for token in said_of(episode)]
        weighted = torch.tensor(weights, dtype=torch.float64) * column
        loss = loss - weighted.sum() * share(norm, batch, episode)
    loss.backward()
    wanted = model.gradient()

    shown = [
        torch.tensor(shown_coefficients(opened_run, line, query), dtype=torch.float64)
        for line in lines
    ]
    for coefficients, column in zip(shown, columns, strict=True):
        torch.testing.assert_close(coefficients, -column.grad, rtol=1e-6, atol=1e-6)
    # And so the weights get the same gradient from what is shown.
    again = [model.log_probabilities(episode) for episode in batch]
    terms = [(c * column).sum() for c, column in zip(shown, again, strict=True)]
    same_loss: Any = -torch.stack(terms).sum()
    same_loss.backward()
    torch.testing.assert_close(model.gradient(), wanted, rtol=1e-6, atol=1e-6)
