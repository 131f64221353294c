from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys

import pytest

import gem
from gem.registry import load_target
from gem_envs_agents.plugin import plugin

LISTING = """
import json, sys
import gem
gem.list_envs("*")
print(json.dumps(sorted(name for name in sys.modules if name.startswith("gem_envs_agents"))))
"""


def test_the_installed_entry_point_is_this_manifest() -> None:
    found = importlib.metadata.entry_points(group="gem.plugins.v1", name="agents")
    assert [point.load() for point in found] == [plugin]


def test_listing_imports_nothing_but_the_manifest() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LISTING], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == ["gem_envs_agents", "gem_envs_agents.plugin"]


@pytest.mark.parametrize("spec", plugin.envs, ids=lambda spec: spec.id)
def test_every_spec_has_a_target_and_says_where_its_tasks_come_from(spec: gem.EnvSpec) -> None:
    assert issubclass(load_target(spec.target), gem.Env)
    assert spec.summary
    assert spec.source
