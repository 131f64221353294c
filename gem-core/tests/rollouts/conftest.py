"""The environments of these tests, each by its id."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gem
from gem.specs import EnvSpec

from .envs import ENVS, Hanging


@pytest.fixture(autouse=True)
def _envs() -> Iterator[None]:
    Hanging.release.clear()
    Hanging.closed = 0
    for name, (target, blocking) in ENVS.items():
        spec = EnvSpec(id=f"demo:{name}", target=f"{target.__module__}:{name}", blocking=blocking)
        gem.register(spec, target)
    yield
    Hanging.release.set()
