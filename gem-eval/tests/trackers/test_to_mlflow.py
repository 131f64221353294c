"""What MLflow is asked where some of it is refused, by a client that stands in for MLflow's own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

from gem_eval.tracking.to_mlflow import MlflowTracker


class Param(NamedTuple):
    """A parameter, as MLflow has it."""

    key: str
    value: str


class Server:
    """What MLflow keeps. It refuses as many batches as `refusals` says."""

    def __init__(self, refusals: int) -> None:
        self.runs: dict[str, dict[str, str]] = {}
        self._refusals = refusals

    def get_experiment_by_name(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(experiment_id=name)

    def create_run(self, experiment_id: str, *, run_name: str) -> SimpleNamespace:
        run_id = f"{experiment_id}-{run_name}-{len(self.runs) + 1}"
        self.runs[run_id] = {}
        return SimpleNamespace(info=SimpleNamespace(run_id=run_id))

    def log_batch(self, run_id: str, *, params: Sequence[Param]) -> None:
        if self._refusals:
            self._refusals -= 1
            raise ConnectionError("refused")
        self.runs[run_id].update(dict(params))


@pytest.fixture
def mlflow_server(monkeypatch: pytest.MonkeyPatch) -> Server:
    """Return an MLflow that refuses two batches, and have it imported as such."""
    found = Server(refusals=2)
    mlflow: Any = ModuleType("mlflow")
    mlflow.MlflowClient = lambda: found
    mlflow.entities = ModuleType("mlflow.entities")
    mlflow.entities.Param = Param
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    monkeypatch.setitem(sys.modules, "mlflow.entities", mlflow.entities)
    # `begin` sets what is not set, and the test is to leave nothing behind.
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "10")
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    return found


def test_a_run_whose_parameters_were_refused_is_made_once(mlflow_server: Server) -> None:
    tracker = MlflowTracker()
    parameters = {"seed": "7", "policies": "random"}
    for _ in range(2):
        with pytest.raises(ConnectionError):
            tracker.begin("run", parameters, None)

    run_id = tracker.begin("run", parameters, None)

    assert mlflow_server.runs == {run_id: parameters}
