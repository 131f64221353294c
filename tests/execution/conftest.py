"""The backend of the example, as a plugin that somebody else installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gem import registry
from gem.testing import fake_plugin

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_backend.py"
MANIFEST = """
from gem.specs import ExecutorSpec, PluginManifest

executor = ExecutorSpec(id="own", target="acme_threads.backend:own_threads")
plugin = PluginManifest(name="acme-threads", executors=(executor,))
"""


@pytest.fixture(scope="module", autouse=True)
def _own_backend_is_installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    files = {"backend.py": EXAMPLE.read_text(encoding="utf-8")}
    folder = fake_plugin(
        tmp_path_factory.mktemp("own"), "acme-threads", manifest=MANIFEST, files=files
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        registry.refresh()
        yield
    registry.refresh()
