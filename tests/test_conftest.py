"""What conftest.py of the root does, on tests that are written here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).parents[1] / "conftest.py"
PLAIN = """
import pytest

@pytest.mark.parametrize("number", [1, 2, 3])
def test_number(number):
    assert number != 3

def test_alone():
    pass
"""
SKIPPING = """
import pytest

@pytest.mark.parametrize("module", ["json", "no_such_module"])
def test_module(module):
    pytest.importorskip(module)
"""
ALIKE = """
import pytest

@pytest.mark.skipif(False, reason="it skips all cases or none")
@pytest.mark.parametrize("number", [1, 2])
def test_number(number):
    pass
"""
FIXTURE = """
import pytest

@pytest.fixture
def module():
    return pytest.importorskip("no_such_module")

@pytest.fixture(autouse=True)
def nothing():
    pass
"""
BY_FIXTURE = """
import pytest

@pytest.mark.parametrize("number", [1, 2])
def test_with(module, number):
    pass

@pytest.mark.parametrize("number", [1, 2])
def test_without(number):
    pass
"""

DRAWING = """
from hypothesis import HealthCheck, given, settings, strategies

@given(strategies.integers())
def test_drawn(number):
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
"""


def run(folder: Path, *options: str) -> str:
    """Run the tests of a folder under the root's conftest.py, and return what is printed."""
    shutil.copy(CONFTEST, folder / "conftest.py")
    (folder / "pytest.ini").write_text("[pytest]")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_how_long_an_example_takes_is_the_machines_business(tmp_path: Path) -> None:
    (tmp_path / "test_drawing.py").write_text(DRAWING)

    assert "1 passed" in run(tmp_path)


def test_one_case_of_a_test_that_needs_nothing_is_run(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(PLAIN)

    assert "1 failed, 3 passed" in run(tmp_path)
    assert "2 passed, 2 deselected" in run(tmp_path, "--one-case")


def test_every_case_of_a_test_that_may_be_skipped_is_run(tmp_path: Path) -> None:
    (tmp_path / "test_skipping.py").write_text(SKIPPING)

    assert "1 passed, 1 skipped" in run(tmp_path, "--one-case")


def test_one_case_of_a_test_that_is_skipped_as_a_whole_is_run(tmp_path: Path) -> None:
    (tmp_path / "test_alike.py").write_text(ALIKE)

    assert "1 passed, 1 deselected" in run(tmp_path, "--one-case")


def test_every_case_with_a_fixture_that_may_skip_is_run(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text(FIXTURE)
    (tmp_path / "tests" / "test_by_fixture.py").write_text(BY_FIXTURE)

    assert "1 passed, 2 skipped, 1 deselected" in run(tmp_path, "--one-case")


def test_a_second_run_leaves_out_what_a_first_one_passed(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(PLAIN)
    outcomes = tmp_path / "outcomes.json"

    run(tmp_path, f"--write-outcomes={outcomes}")

    assert "1 failed, 3 deselected" in run(tmp_path, f"--leave-out-passed={outcomes}")
