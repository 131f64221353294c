"""MLflow: where `MLFLOW_TRACKING_URI` says, or in `mlflow.db` of the current folder."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["MlflowTracker"]

_PROJECT = "gem"
_MOST_AT_ONCE = 100  # parameters; of figures it takes 1,000


class MlflowTracker:
    """A run of the experiment `MLFLOW_EXPERIMENT_NAME`, or `gem`."""

    def __init__(self) -> None:
        self._created_id: str | None = None

    def begin(self, name: str, parameters: Mapping[str, str], run_id: str | None) -> str:
        """Open a run, or go on with the one of this id; its parameters stay as they are."""
        from mlflow import MlflowClient  # heavy: 1 s
        from mlflow.entities import Param

        # Its own are seven tries in minutes. Here the next figures are the next try.
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "10")
        self._client = MlflowClient()
        if run_id is None:
            # It is kept before the parameters, which may be refused: `begin` is then called again,
            # and must not make a second run.
            if self._created_id is None:
                created = self._client.create_run(self._experiment_id(), run_name=name)
                self._created_id = str(created.info.run_id)
            run_id = self._created_id
            several = [Param(key, value) for key, value in parameters.items()]
            for start in range(0, len(several), _MOST_AT_ONCE):
                self._client.log_batch(run_id, params=several[start : start + _MOST_AT_ONCE])
        else:
            self._client.update_run(run_id, status="RUNNING")
        self._run_id = run_id
        return run_id

    def log(self, figures: Mapping[str, float], step: int) -> None:
        """Log all figures in as few requests as MLflow takes them in."""
        from mlflow.entities import Metric

        now_ms = int(time.time() * 1000)
        metrics = [Metric(key, float(value), now_ms, step) for key, value in figures.items()]
        for start in range(0, len(metrics), 10 * _MOST_AT_ONCE):
            self._client.log_batch(self._run_id, metrics[start : start + 10 * _MOST_AT_ONCE])

    def end(self, *, is_finished: bool, files: Sequence[Path]) -> None:
        """Keep the files as artifacts, and close the run: one that stopped as KILLED."""
        for path in files:
            self._client.log_artifact(self._run_id, str(path))
        self._client.set_terminated(self._run_id, "FINISHED" if is_finished else "KILLED")

    def _experiment_id(self) -> str:
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", _PROJECT)
        known = self._client.get_experiment_by_name(name)
        if known is not None:
            return str(known.experiment_id)
        return str(self._client.create_experiment(name))
