from __future__ import annotations

import subprocess
import sys

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


def test_every_id_needs_the_library_of_the_extra() -> None:
    assert {spec.requires for spec in gem.list_envs("rg:*")} == {("reasoning-gym==0.1.25",)}
