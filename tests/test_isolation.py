"""A distribution runs alone again where something changed that decides whether it passes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import isolation

FILES = (
    *isolation.COMMON,
    "pack/pyproject.toml",
    "pack/README.md",
    "pack/src/pack/env.py",
    "pack/tests/test_env.py",
    "core/pyproject.toml",
    "core/src/core/env.py",
    "core/tests/test_env.py",
    "other/src/other.py",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def content(root: Path, how: str = "with its extras") -> str:
    return isolation.content("pack", ["core"], how, root)


def passed(root: Path) -> None:
    isolation.record("pack", content(root), root)


def is_current(root: Path, how: str = "with its extras") -> bool:
    return isolation.recorded("pack", root) == content(root, how)


def test_what_passed_is_known_by_its_content(root: Path) -> None:
    assert not is_current(root)

    passed(root)

    assert is_current(root)
    assert isolation.recorded("core", root) is None


@pytest.mark.parametrize(
    "changed",
    [
        *isolation.COMMON,
        "pack/pyproject.toml",
        "pack/src/pack/env.py",
        "pack/src/pack/rows.csv",
        "pack/tests/test_env.py",
        "pack/tests/test_new.py",
        "core/pyproject.toml",
        "core/src/core/env.py",
    ],
)
def test_it_runs_again_where_something_changed_that_it_passes_by(root: Path, changed: str) -> None:
    passed(root)

    (root / changed).write_text("changed")

    assert not is_current(root)


def test_what_changed_during_a_run_was_not_run(root: Path) -> None:
    before = content(root)
    (root / "pack/src/pack/env.py").write_text("changed")

    isolation.record("pack", before, root)

    assert not is_current(root)


def test_it_runs_again_where_it_is_installed_or_run_otherwise(root: Path) -> None:
    passed(root)

    assert not is_current(root, how="with another extra")


def test_it_runs_again_where_a_file_is_gone_or_renamed(root: Path) -> None:
    passed(root)
    path = root / "pack/tests/test_env.py"

    path.rename(path.with_name("test_envs.py"))

    assert not is_current(root)


@pytest.mark.parametrize(
    "changed",
    [
        "pack/README.md",
        "pack/src/pack/__pycache__/env.pyc",
        "core/tests/test_env.py",
        "other/src/other.py",
    ],
)
def test_what_it_never_meets_does_not_count(root: Path, changed: str) -> None:
    passed(root)
    path = root / changed

    path.parent.mkdir(exist_ok=True)
    path.write_text("changed")

    assert is_current(root)
