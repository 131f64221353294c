"""What core's tests share: packs that are installed for real, into a folder of the test's own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from gem import registry
from gem.specs import ExecutorSpec
from gem.targets import load_target
from gem.testing import backends, fake_plugin

Install = Callable[..., Path]

# How long an example takes is the machine's business.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def _nothing_stays_registered() -> Iterator[None]:
    before = dict(registry._local)
    yield
    registry._local.clear()
    registry._local.update(before)


@pytest.fixture(autouse=True)
def _checks_start_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the backend of another distribution out of checks: it takes seconds in each."""

    def near() -> list[ExecutorSpec]:
        return [each for each in registry.executors() if each.id != "ray"]

    monkeypatch.setattr(backends, "executors", near)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a pack here: `install("acme-words", envs={...})`."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def install_pack(name: str, **options: Any) -> Path:
        folder = fake_plugin(site, name, **options)
        registry.refresh()
        return folder

    yield install_pack
    registry.refresh()
    load_target.cache_clear()
    for module, found in list(sys.modules.items()):
        if str(getattr(found, "__file__", None) or "").startswith(str(site)):
            del sys.modules[module]
