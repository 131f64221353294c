"""Every environment of every installed pack behaves, as `gem-env check` sees it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import gem
from gem.registry import _registering

Run = Callable[..., "subprocess.CompletedProcess[str]"]

DECLARED = {
    "it has no finite set of tasks",
    "it declares fixed_start=True, and every seed starts alike",
    "single-turn: solve() is the gold answer",
}


def lines(done: subprocess.CompletedProcess[str]) -> dict[str, list[dict[str, str]]]:
    return {report["env_id"]: report["lines"] for report in json.loads(done.stdout)}


@pytest.mark.parametrize(
    ("pattern", "backends"),
    # The first on a single backend: games are opened on others by their pack's own tests.
    [("game:M*-v0-easy", ["--backend", "thread"]), ("math:Arithmetic-v0", [])],
)
def test_every_line_holds_or_is_skipped_for_a_declared_reason(
    gem_env: Run, pattern: str, backends: list[str]
) -> None:
    done = gem_env("check", pattern, "--json", *backends)

    checked = lines(done)
    held = [line for each in checked.values() for line in each if line["state"] != "skipped"]
    skipped = [line for each in checked.values() for line in each if line["state"] == "skipped"]
    assert done.returncode == 0, done.stdout
    assert sorted(checked) == [spec.id for spec in gem.list_envs(pattern)]
    assert {line["state"] for line in held} == {"passed"}
    assert {line["evidence"] for line in skipped} <= DECLARED


def test_a_data_set_passes_on_its_local_copy(gem_env: Run, local_data: Path) -> None:
    pytest.importorskip("datasets", reason="gem-envs-math's extra `data` is not installed")
    data = json.dumps({"data": str(local_data / "gsm8k" / "test.jsonl")})
    backends = ["--backend", "thread", "--backend", "process"]  # others open it no other way

    done = gem_env("check", "math:GSM8K", "--env-kwargs", data, "--json", *backends)

    [checked] = lines(done).values()
    assert done.returncode == 0, done.stdout
    assert {line["state"] for line in checked} == {"passed", "skipped"}
    assert {line["evidence"] for line in checked if line["state"] == "skipped"} <= DECLARED


def test_no_pack_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    # What other tests have registered is no pack's.
    monkeypatch.setattr(_registering, "_registrations", {})
    # Most of them are covered by their packs' own tests.
    patterns = ("code:*", "eval:*", "game:*", "logic:*", "math:*", "qa:*", "rg:*", "ta:*", "wiki:*")
    others = ("agents:*", "pettingzoo:*", "tau:*")
    covered = {spec.id for each in (*patterns, *others) for spec in gem.list_envs(each)}

    assert covered == {spec.id for spec in gem.list_envs()}
