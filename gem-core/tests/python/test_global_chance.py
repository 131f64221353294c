"""Chance of the whole process: an environment that draws from it is told at its first reset."""

from __future__ import annotations

import importlib
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="gem-core's extra `vector` is not installed")

import numpy.random

import gem
from gem._python.global_chance import GlobalChance

numpy_random: Any = numpy.random


def rolling(draw: Any) -> type[gem.Env]:
    """Return a new class of environments, which calls `draw` in each reset."""

    class Rolling(gem.Env):
        def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            return str(draw()), {}

    return Rolling


@pytest.mark.parametrize(
    ("draw", "name"), [(random.random, "random"), (numpy_random.rand, "numpy.random")]
)
def test_an_environment_that_draws_from_global_chance_is_warned_of_once(
    draw: Any, name: str
) -> None:
    gem.register("demo:Rolling", rolling(draw))

    with pytest.warns(RuntimeWarning, match=rf"Rolling used the global state of {name},.*self.rng"):
        gem.make("demo:Rolling", seed=0).reset()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gem.make("demo:Rolling", seed=0).reset()


def test_a_reset_that_imports_is_not_blamed_for_what_its_modules_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(tmp_path, "drawing_at_import.py").write_text("import random\n\nrandom.random()\n")
    draws = iter([lambda: importlib.import_module("drawing_at_import"), random.random])

    def draw() -> Any:
        return next(draws)()

    gem.register("demo:Rolling", rolling(draw))
    env = gem.make("demo:Rolling", seed=0)

    monkeypatch.syspath_prepend(tmp_path)

    env.reset()
    with pytest.warns(RuntimeWarning, match="A reset of Rolling used the global state of random"):
        env.reset()

    del sys.modules["drawing_at_import"]


def test_an_environment_with_chance_of_its_own_is_not_warned_of() -> None:
    gem.register("demo:Rolling", rolling(random.Random(0).random))

    gem.make("demo:Rolling", seed=0).reset()


def test_the_global_state_can_be_put_back() -> None:
    before = GlobalChance.now()
    first = random.random(), numpy_random.rand()

    before.put_back()

    assert (random.random(), numpy_random.rand()) == first
    assert before.changed_since() == ["random", "numpy.random"]
