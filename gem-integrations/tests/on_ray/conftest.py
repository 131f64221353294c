"""One Ray for every test of this folder, started on first use and ended after the last."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from gem.specs import EnvSpec


@pytest.fixture(scope="package", autouse=True)
def _one_ray() -> Iterator[None]:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("gem-integrations' extra `ray` is not installed")
    from gem_integrations.ray.cluster import shutdown

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))  # where actors find `perilous`
        patch.delenv("RAY_ADDRESS", raising=False)
        yield
        shutdown()


@pytest.fixture
def walk() -> EnvSpec:
    return EnvSpec(id="perilous:Walk", target="perilous:Walk")


@pytest.fixture
def mixed(walk: EnvSpec) -> list[EnvSpec]:
    """Return seven environments: of many kinds, and one whose steps are worth a snapshot."""
    names = ("Guess", "Lamps", "Coin", "Echo")
    small = [EnvSpec(id=f"small:{name}", target=f"gem.testing.envs:{name}") for name in names]
    slow = walk.model_copy(update={"kwargs": {"length": 4, "step_s": 0.012}})
    return [walk, *small, slow, walk]
