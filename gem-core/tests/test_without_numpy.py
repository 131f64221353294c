"""Core needs no numpy; what does says so, with the command that installs it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gem
from gem.errors import MissingRequirement
from gem.registry._importing import forget_installed
from gem.testing import check_env
from gem.testing.envs import Guess

NEEDS_IT = ["gem.vector", "gem.utils.seeding"]


@pytest.fixture
def without_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put a numpy that is too old before any other, and forget what was imported with one."""
    for name in [name for name in sys.modules if name.startswith(tuple(NEEDS_IT))]:
        monkeypatch.delitem(sys.modules, name)
    metadata = tmp_path / "numpy-1.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_installed()
    yield
    monkeypatch.undo()
    forget_installed()


@pytest.mark.usefixtures("without_numpy")
@pytest.mark.parametrize("module", NEEDS_IT)
def test_what_needs_numpy_says_how_to_install_it(module: str) -> None:
    with pytest.raises(MissingRequirement, match=r"needs numpy>=1\.26, not installed") as caught:
        importlib.import_module(module)

    assert caught.value.command.startswith("pip install ")


@pytest.mark.usefixtures("without_numpy")
def test_a_check_leaves_vectors_out_and_says_why() -> None:
    report = check_env(Guess, seeds=range(2), backends=["inline"])

    lines = {line.name: line for line in report.lines}
    assert report.is_good, report.failures
    assert lines["vectors"].state == "skipped"
    assert "gem.vector needs numpy" in lines["vectors"].evidence


@pytest.mark.vector
def test_the_older_path_of_make_vec_is_the_same_function() -> None:
    registration = importlib.import_module("gem.envs.registration")

    assert registration.make_vec is gem.make_vec
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = registration.nothing


def test_a_rollout_a_check_of_a_game_and_the_older_paths_load_no_numpy() -> None:
    code = (
        "import sys, gem\n"
        "from gem.envs.registration import make, print_envs\n"
        "gem.run(lambda request: '1', 'gem.testing.envs:Guess', episodes=2)\n"
        "gem.print_envs\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
