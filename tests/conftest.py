"""What the tests across distributions share: a command line, a Python, packs that are installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from gem.testing import fake_plugin

ROOT = Path(__file__).parents[1]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "a checkout of ROLL, to try the environments of its configurations"
    parser.addoption("--roll-checkout", type=Path, help=about)


@pytest.fixture
def run_python(tmp_path: Path) -> Run:
    """Return a function that runs Python in a process of its own, in an empty folder.

    Its arguments are the interpreter's; `path` is put on PYTHONPATH, `env` adds variables.
    """
    work = tmp_path / "work"
    work.mkdir()

    def run(
        *arguments: str, path: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, "PYTHONUTF8": "1", "GEM_STRICT_PLUGINS": "", **(env or {})}
        if path is not None:
            variables["PYTHONPATH"] = str(path)
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=work, env=variables, capture_output=True, text=True, check=False
        )

    return run


@pytest.fixture
def gem_env(run_python: Run) -> Run:
    """Return a function that runs the command line: `gem_env("list", "game:*")`."""

    def run(
        *arguments: str, path: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return run_python("-m", "gem", *arguments, path=path, env=env)

    return run


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return an empty folder that stands for a site-packages; put it on the path to use it."""
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


@pytest.fixture
def install(site: Path) -> Callable[..., None]:
    """Return a function that installs a pack into `site` from the source of its manifest."""

    def install_pack(name: str, manifest: str, *, group: str = "gem.plugins.v1") -> None:
        fake_plugin(site, name, manifest=manifest, group=group)

    return install_pack


@pytest.fixture(scope="session")
def local_data() -> Path:
    """Return the folder with the local data sets; a test that needs it skips elsewhere."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the local data sets are not beside this checkout")
    return folder


@pytest.fixture(scope="module")
def ray() -> Iterator[None]:
    """Have one Ray for a file of tests; skip where it is not installed."""
    if find_spec("ray") is None:
        pytest.skip("gem-integrations' extra `ray` is not installed")
    from gem_integrations.ray.cluster import shutdown

    yield
    shutdown()
