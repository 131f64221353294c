"""What tests of tools share: an environment to put them on, an index, and the strict sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import gem
from gem.testing import registrations_undone
from gem_tools.sandbox import SandboxUnavailable, make_sandbox


@pytest.fixture
def demo_guess() -> Iterator[None]:
    """Register the environment `demo:Guess`."""
    with registrations_undone():
        gem.register("demo:Guess", "gem.testing.envs:Guess", highest=31)
        yield


@pytest.fixture(scope="session")
def bwrap() -> None:
    """Skip where this machine has no strict sandbox."""
    try:
        make_sandbox("bwrap")
    except SandboxUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def index_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of an index of one document."""
    pytest.importorskip("tantivy", reason="the extra `search` is not installed")
    from gem_tools.search import build_index

    folder: Path = tmp_path_factory.mktemp("indexes") / "index"
    build_index([{"id": "a1", "title": "Orrery", "text": "A model of the planets."}], folder)
    return str(folder)
