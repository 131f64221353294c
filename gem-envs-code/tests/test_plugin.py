from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import gem
from gem.registry import load_target
from gem.registry._availability import lacks
from gem.specs import DataSource
from gem_envs_code.plugin import plugin

LISTING = """
import json, sys
import gem
ids = [spec.id for spec in gem.list_envs() if spec.target.startswith("gem_envs_code")]
print(json.dumps([ids, sorted({name.partition(".")[0] for name in sys.modules})]))
"""
HEAVY = {"datasets", "pyarrow", "huggingface_hub", "pandas", "numpy"}


def run(code: str) -> Any:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_installed_entry_point_is_this_manifest() -> None:
    found = importlib.metadata.entry_points(group="gem.plugins.v1", name="code")
    assert [point.load() for point in found] == [plugin]


def test_listing_imports_nothing_but_the_manifest() -> None:
    ids, modules = run(LISTING)
    assert sorted(ids) == sorted(spec.id for spec in plugin.envs)
    assert not HEAVY & set(modules)


def test_the_ids_are_those_that_they_have_elsewhere() -> None:
    assert {spec.id for spec in plugin.envs} >= {
        "code:CodeContest",
        "code:Taco8k",
        "code:PrimeIntellect15k",
        "eval:CodeContest",
        "code:HumanEval",
        "code:MBPP",
    }


@pytest.mark.parametrize(
    ("id", "hub", "split", "role"),
    [
        ("code:CodeContest", "axon-rl/CodeContest", "train", "train"),
        ("code:Taco8k", "axon-rl/TACO-8k", "train", "train"),
        ("code:PrimeIntellect15k", "axon-rl/PrimeIntellect-15k", "train", "train"),
        ("eval:CodeContest", "axon-rl/CodeContest", "test", "eval"),
    ],
)
def test_they_keep_the_data_sets_and_fields_that_they_have_elsewhere(
    id: str, hub: str, split: str, role: str
) -> None:
    source = DataSource.model_validate(gem.spec(id).kwargs["source"])

    assert (source.hub, source.split, source.role) == (hub, split, role)
    assert source.fields == {"question": "problem"}


def test_the_extra_requires_what_the_specs_do() -> None:
    declared = map(Requirement, importlib.metadata.requires("gem-envs-code") or [])
    [extra] = [requirement for requirement in declared if requirement.name == "gem-tools"]

    assert {requirement for spec in plugin.envs for requirement in spec.requires} == {
        f"{extra.name}>=0.1,<0.2"
    }
    assert extra.specifier == Requirement("gem-tools>=0.1,<0.2").specifier


@pytest.mark.parametrize("spec", plugin.envs, ids=lambda spec: spec.id)
def test_every_spec_is_whole(spec: gem.EnvSpec) -> None:
    assert issubclass(load_target(spec.target), gem.Env)
    assert spec.summary
    assert spec.source
    assert spec.licence


def test_bubblewrap_is_needed_and_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    spec = gem.spec("code:HumanEval").model_copy(update={"requires": ()})
    assert "bubblewrap" in [lack.what for lack in lacks(spec)]
    program = tmp_path / "bwrap"
    program.touch(mode=0o755)
    assert "bubblewrap" not in [lack.what for lack in lacks(spec)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_arguments_of_earlier_releases_pose_the_same_problems() -> None:
    tools = pytest.importorskip("gem_tools.sandbox", reason="gem-tools is not installed")
    try:
        tools.make_sandbox()
    except tools.SandboxUnavailable as unavailable:
        pytest.skip(str(unavailable))
    rows = [{"task": "Double a number.", "checks": {"inputs": ["2\n"], "outputs": ["4\n"]}}]
    fields = {"question": "task", "tests": "checks"}
    ignored: dict[str, Any] = {"verbose": True, "max_workers": 5, "use_mp": True, "max_steps": 10}

    older = gem.make(
        "code:CodeContest", dataset=rows, question_key="task", test_key="checks", **ignored
    )
    today = gem.make("code:CodeContest", data=rows, fields=fields)
    assert older.reset(seed=1) == today.reset(seed=1)
    assert older.spec == today.spec
