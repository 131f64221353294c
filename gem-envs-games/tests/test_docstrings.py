from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import gem_envs_games

MODULES = [found.name for found in pkgutil.iter_modules(gem_envs_games.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str) -> None:
    module = importlib.import_module(f"gem_envs_games.{name}")

    assert doctest.testmod(module).failed == 0
