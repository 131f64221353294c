"""A module that targets can name, and an id of its environment."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator

import pytest

from gem.registry import register
from gem.registry._importing import load_target
from gem.wrappers._time_limit import TimeLimit

from .envs import Prefix, Unconcat, Words


@pytest.fixture(autouse=True)
def _targets_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let targets name these classes, whatever name pytest imports their file under."""
    here = types.ModuleType("words_here")
    here.__dict__.update({each.__name__: each for each in (Words, Prefix, Unconcat)})
    here.__dict__.update(not_an_env=dict, stack=lambda: TimeLimit(Words(), max_turns=2))
    here.__dict__.update(two_layers=lambda env, prefix=">": Prefix(Prefix(env, prefix), prefix))
    here.__dict__.update(nothing=lambda env: env, no_env=lambda env: 5)
    monkeypatch.setitem(sys.modules, "words_here", here)
    load_target.cache_clear()
    yield
    load_target.cache_clear()


@pytest.fixture
def words() -> str:
    return register("demo:Words-v0", "words_here:Words", size=5).id
