from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import gem_envs_games

MODULES = [
    found.name for found in pkgutil.walk_packages(gem_envs_games.__path__, "gem_envs_games.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str) -> None:
    module = importlib.import_module(name)

    assert doctest.testmod(module).failed == 0
