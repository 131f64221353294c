from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import gem
from gem_envs_reasoning.listing import CATEGORIES, NAMES
from gem_envs_reasoning.plugin import plugin


def test_every_task_is_listed_once() -> None:
    assert len(NAMES) == 105
    assert len(CATEGORIES) == 12
    assert {spec.id for spec in plugin.envs} == {"rg:composite", *(f"rg:{name}" for name in NAMES)}


def test_the_ids_are_those_of_the_installed_library() -> None:
    factory = pytest.importorskip("reasoning_gym.factory")

    assert {*factory.DATASETS} == {"composite", *NAMES}


def test_listing_imports_nothing_of_the_library() -> None:
    code = (
        "import sys, gem; assert len(gem.list_envs('rg:*')) == 106; "
        "assert not {'reasoning_gym', 'sympy', 'numpy'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("env_id", ["rg:leg_counting", "rg:composite"])
@pytest.mark.parametrize("name", ["size", "use_mp", "verbose"])
def test_arguments_of_earlier_releases_are_ignored(env_id: str, name: str) -> None:
    pytest.importorskip("reasoning_gym", reason="the extra `tasks` is not installed")
    given: dict[str, Any] = {name: 500}

    with pytest.warns(DeprecationWarning, match=f"no {name!r} any longer; it is ignored"):
        env = gem.make(env_id, seed=42, **given)
    assert env.reset() == gem.make(env_id, seed=42).reset()


def test_every_id_needs_the_library_of_the_extra() -> None:
    assert {spec.requires for spec in gem.list_envs("rg:*")} == {("reasoning-gym==0.1.25",)}
