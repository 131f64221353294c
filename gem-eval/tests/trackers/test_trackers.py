"""The trackers themselves, on this machine: a run, the same run resumed, and what they then have.

They are installed where `nox -s others` runs. What they keep is read by their own code.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import gem_eval
from gem_eval import Evaluation

pytestmark = pytest.mark.usefixtures("patient_tracking")

Run = Callable[..., Evaluation]
RATE = "tiny_Guess/random/success_rate"
KEY = "sk-planted-81f0"

MLFLOW = """
import json, sys
from pathlib import Path
from mlflow import MlflowClient
client = MlflowClient()
[run] = client.search_runs([client.get_experiment_by_name("gem").experiment_id])
id = run.info.run_id
points = [[point.step, point.value] for point in client.get_metric_history(id, sys.argv[1])]
path = client.download_artifacts(id, "summary.json", ".")
found = {
    "points": points,
    "parameter": run.data.params["policies"],
    "summary": Path(path).read_text(),
    "status": run.info.status,
}
print(json.dumps(found))
"""
TRACKIO = """
import json, sys
import trackio
from trackio.sqlite_storage import SQLiteStorage
[run] = trackio.Api().runs("gem")
logs = SQLiteStorage.get_logs("gem", run.name, run_id=run.id)
found = {
    "points": [[log["step"], log[sys.argv[1]]] for log in logs],
    "parameter": run.config["policies"],
    "status": "",
}
print(json.dumps(found))
"""
# Offline it keeps records in the blocks of a LevelDB log, a file for each process.
WANDB = """
import glob, json, struct, sys
from wandb.proto.wandb_internal_pb2 import Record

def records(path):
    data = open(path, "rb").read()
    place = 7
    whole = b""
    while place + 7 <= len(data):
        left = 32768 - place % 32768
        if left < 7:
            place += left
            continue
        _, size, kind = struct.unpack("<IHB", data[place : place + 7])
        whole += data[place + 7 : place + 7 + size]
        place += 7 + size
        if kind in (1, 4):
            yield Record.FromString(whole)
            whole = b""

points = []
ids = set()
for path in sorted(glob.glob("wandb/offline-run-*/*.wandb")):
    for record in records(path):
        if record.HasField("run"):
            ids.add(record.run.run_id)
            config = {each.key: json.loads(each.value_json) for each in record.run.config.update}
        elif record.HasField("history"):
            row = {"/".join(each.nested_key) or each.key: each.value_json
                   for each in record.history.item}
            points.append([record.history.step.num, json.loads(row[sys.argv[1]])])
        elif record.HasField("exit"):
            status = record.exit.exit_code
assert len(ids) == 1
print(json.dumps({"points": points, "parameter": config["policies"], "status": str(status)}))
"""


class Kind(NamedTuple):
    """A tracker: its module, what reads what it keeps, and what it calls a run that is done."""

    module: str
    reader: str
    done: str


KINDS = {
    "mlflow": Kind("mlflow", MLFLOW, "FINISHED"),
    "trackio": Kind("trackio", TRACKIO, ""),
    "wandb": Kind("wandb", WANDB, "0"),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let trackers keep all that they have in a folder, and know a key."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return tmp_path


def read(kind: Kind) -> dict[str, Any]:
    command = [sys.executable, "-c", kind.reader, RATE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", list(KINDS))
def test_a_run_and_the_same_run_resumed_are_one_there(name: str, run: Run, here: Path) -> None:
    pytest.importorskip(KINDS[name].module, exc_type=ImportError)
    first = run(policies="random", track=name)
    assert first.tracking_problems == ()

    whole = gem_eval.resume(first.path, episodes=40)

    assert whole.tracking_problems == ()
    found = read(KINDS[name])
    steps = [step for step, _ in found["points"]]
    assert steps == sorted(set(steps))
    assert {20, 40} <= set(steps)
    at = dict(map(tuple, found["points"]))
    assert at[20] == pytest.approx(first.summary.results[0].success_rate)
    assert at[40] == pytest.approx(whole.summary.results[0].success_rate)
    assert (found["parameter"], found["status"]) == ('["random"]', KINDS[name].done)
    if "summary" in found:
        assert json.loads(found["summary"]) == whole.summary.to_json()
    kept = [path for path in here.rglob("*") if path.is_file()]
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []


def test_a_server_that_is_not_there_costs_the_run_nothing(
    run: Run, here: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mlflow", exc_type=ImportError)
    server.close()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", server.url)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")

    found = run(policies="random", track="mlflow")

    assert (found.summary.episodes, found.summary.errors) == (20, 0)
    [problem] = found.tracking_problems
    assert "mlflow does not have the last figures of this run" in problem
