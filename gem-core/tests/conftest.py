"""What core's tests share: packs that are installed for real, into a folder of the test's own."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gem import registry
from gem.registry._importing import load_target
from gem.specs import ExecutorSpec
from gem.testing import _backends as backends
from gem.testing import fake_plugin, registrations_undone

Install = Callable[..., Path]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what steps vectors where numpy is not installed, which core itself does not need."""
    if item.get_closest_marker("vector"):
        pytest.importorskip("numpy", reason="gem-core's extra `vector` is not installed")


@pytest.fixture(autouse=True)
def _nothing_stays_registered() -> Iterator[None]:
    with registrations_undone():
        yield


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
    _forget_modules_in(site)


def _forget_modules_in(folder: Path) -> None:
    """Let a later test import its own modules of these names.

    Only those of the folder: what else was first imported meanwhile stays, for numpy, say, cannot
    be imported twice in a process.
    """
    load_target.cache_clear()
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a folder of a stranger's, and forget what was imported from it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    _forget_modules_in(tmp_path)


class Placed(str):
    """A text that equals itself with a place behind it, whatever the file and the line."""

    function: str

    def __new__(cls, text: str, function: str) -> Placed:
        placed = super().__new__(cls, text)
        placed.function = function
        return placed

    def __eq__(self, other: object) -> bool:
        place = rf" \(\w+\.py, line \d+, in {self.function}\)"
        return isinstance(other, str) and bool(re.fullmatch(re.escape(self) + place, other))

    __hash__ = str.__hash__


@pytest.fixture
def placed() -> Callable[[str, str], str]:
    """Return what makes the text of an error as a record has it: `placed("KeyError: 1", "step")`.

    It equals `KeyError: 1 (words.py, line 8, in step)`, of any file and line.
    """
    return Placed
