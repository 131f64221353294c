from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from typing import Any

import pytest

import gem
from gem.targets import load_target
from gem_envs_math.plugin import plugin

LISTING = """
import json, sys
import gem
ids = [spec.id for spec in gem.list_envs("math:*")]
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
HEAVY = {"datasets", "pyarrow", "huggingface_hub", "pandas", "numpy", "fsspec"}


def run(code: str) -> Any:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_installed_entry_point_is_this_manifest() -> None:
    found = importlib.metadata.entry_points(group="gem.plugins.v1", name="math")
    assert [point.load() for point in found] == [plugin]


def test_listing_imports_nothing_but_the_manifest() -> None:
    ids, modules = run(LISTING)
    assert ids == [spec.id for spec in plugin.envs]
    assert not HEAVY & set(modules)


def test_arithmetic_imports_no_third_party_package() -> None:
    assert not HEAVY & set(run(GENERATING))


def test_gsm8k_is_the_data_set_that_its_id_has_elsewhere() -> None:
    source = gem.spec("math:GSM8K").kwargs["source"]
    assert (source["hub"], source["fields"]) == ("axon-rl/GSM-8k", {"question": "problem"})


@pytest.mark.parametrize("spec", plugin.envs, ids=lambda spec: spec.id)
def test_every_target_exists(spec: gem.EnvSpec) -> None:
    assert issubclass(load_target(spec.target), gem.Env)


@pytest.mark.parametrize("spec", plugin.envs, ids=lambda spec: spec.id)
def test_every_spec_says_where_its_problems_come_from(spec: gem.EnvSpec) -> None:
    assert spec.summary
    assert spec.source
