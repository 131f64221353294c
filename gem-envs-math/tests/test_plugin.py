from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gem
from gem.registry import load_target
from gem_envs_math.plugin import plugin

LISTING = """
import json, sys
import gem
ids = [spec.id for spec in gem.list_envs("*") if spec.target.startswith("gem_envs_math.")]
print(json.dumps([ids, sorted({name.partition(".")[0] for name in sys.modules})]))
"""
GENERATING = """
import json, sys
import gem
with gem.make("math:Arithmetic-v0", seed=0) as env:
    env.reset()
    env.step(env.solve())
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
HEAVY = {"datasets", "pyarrow", "huggingface_hub", "pandas", "numpy", "fsspec", "sympy", "PIL"}

EVAL = "axon-rl/math-eval"
KNOWN = {  # what users of these ids have in their configurations
    "math:ASDiv2K": ("axon-rl/ASDIV-2k", None),
    "math:GSM8K": ("axon-rl/GSM-8k", None),
    "math:Math12K": ("axon-rl/MATH-12k", None),
    "math:Math8K-3to5": ("axon-rl/MATH-lvl3to5-8k", None),
    "math:Orz57K": ("axon-rl/ORZ-57k", None),
    "math:DeepScaleR40K": ("axon-rl/DeepScaleR-40K", None),
    "math:Geometry3K": ("axon-rl/geometry3k", "train"),
    "eval:MATH500": (EVAL, "math"),
    "eval:AMC": (EVAL, "amc"),
    "eval:OlympiadBench": (EVAL, "olympiad_bench"),
    "eval:Minerva": (EVAL, "minerva"),
    "eval:AIME24": (EVAL, "aime24"),
}


def run(code: str) -> Any:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_installed_entry_point_is_this_manifest() -> None:
    found = importlib.metadata.entry_points(group="gem.plugins.v1", name="math")
    assert [point.load() for point in found] == [plugin]


def test_listing_imports_nothing_but_the_manifest() -> None:
    ids, modules = run(LISTING)
    assert sorted(ids) == sorted(spec.id for spec in plugin.envs)
    assert not HEAVY & set(modules)


def test_arithmetic_imports_no_third_party_package() -> None:
    assert not HEAVY & set(run(GENERATING))


@pytest.mark.parametrize("env_id", KNOWN)
def test_an_id_is_the_data_set_that_it_is_elsewhere(env_id: str) -> None:
    source = gem.spec(env_id).kwargs["source"]
    assert (source["hub"], source.get("split")) == KNOWN[env_id]
    assert source["fields"] == {"question": "problem"}
    assert source["role"] == env_id.partition(":")[0].replace("math", "train")


@pytest.mark.parametrize("spec", plugin.envs, ids=lambda spec: spec.id)
def test_every_target_exists(spec: gem.EnvSpec) -> None:
    assert issubclass(load_target(spec.target), gem.Env)


@pytest.mark.parametrize("spec", plugin.envs, ids=lambda spec: spec.id)
def test_every_spec_says_where_its_problems_come_from(spec: gem.EnvSpec) -> None:
    assert spec.summary
    assert spec.source
    assert spec.licence or spec.source == "generated from the seed"


ROWS = [
    {"prompt": "What is 1 + 1?", "solution": "2"},
    {"prompt": "What is 2 + 2?", "solution": "4"},
]
KEYS: dict[str, Any] = {"question_key": "prompt", "answer_key": "solution"}


def test_arguments_of_earlier_releases_pose_the_same_problems() -> None:
    fields = {"question": "prompt", "answer": "solution"}
    today = gem.make("math:GSM8K", data=ROWS, fields=fields, seed=3)

    with pytest.warns(DeprecationWarning, match=r"'dataset'|'\w+_key'|'use_mp'|'verbose'|'max_st"):
        older = gem.make(
            "math:GSM8K", dataset=ROWS, **KEYS, use_mp=False, verbose=True, max_steps=1, seed=3
        )
    assert older.reset() == today.reset()
    assert older.step(str(today.solve())).reward == 1.0
    assert older.spec is not None
    assert older.spec.kwargs["fields"] == fields


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_data_set_is_named_as_in_earlier_releases(
    datasets: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of that name, from the working folder, is what `datasets` takes for the data set."""
    (tmp_path / "acme" / "sums").mkdir(parents=True)
    lines = "".join(f"{json.dumps(row)}\n" for row in ROWS)
    (tmp_path / "acme" / "sums" / "train.jsonl").write_text(lines, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    env = gem.make("math:GSM8K", dataset_name="acme/sums", split="train", **KEYS)
    assert env.num_tasks == 2
    assert env.reset(task=1)[0] == gem.make("math:GSM8K", dataset=ROWS, **KEYS).reset(task=1)[0]


def test_every_data_set_takes_the_arguments_of_earlier_releases() -> None:
    older = {spec.id for spec in plugin.envs if "dataset_name" in spec.obsolete_kwargs}
    assert older == {spec.id for spec in plugin.envs if "source" in spec.kwargs}
