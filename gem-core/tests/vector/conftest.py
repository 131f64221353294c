"""Environments by id, and a class whose instances fail as they are told."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy", reason="gem-core's extra `vector` is not installed")


import gem

from .envs import Count, Faulty


@pytest.fixture(autouse=True)
def _count_is_registered() -> None:
    gem.register("vec:Count", Count)


@pytest.fixture
def faulty() -> type[Faulty]:
    for each in (Faulty.made, Faulty.make_faults, Faulty.reset_faults, Faulty.close_faults):
        each.clear()
    gem.register("vec:Faulty", Faulty)
    return Faulty
