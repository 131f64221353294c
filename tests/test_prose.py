"""What stands in the files of the tree, and what each distribution brings along."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DISTRIBUTIONS = sorted(path.parent for path in ROOT.glob("*/pyproject.toml"))

# With a class of one letter in each, so that this file does not name them either.
INDEX_HOSTS = re.compile(r"py[p]i\.org|python[h]osted\.org|np[m]js\.org|crate[s]\.io")
MACHINE_PATHS = re.compile(r"(?<![\w.~$})>-])/(?:work|home|root|tmp|Users)/[\w.-]+")


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Return every tracked file that is text."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout: which files belong to the tree is not known")
    paths = [ROOT / name for name in listed.stdout.splitlines()]
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in paths
        if path.is_file() and b"\0" not in path.read_bytes()
    }


def matches(pattern: re.Pattern[str], texts: dict[str, str]) -> list[str]:
    return [
        f"{name}: {found[0]}" for name, text in texts.items() for found in pattern.finditer(text)
    ]


def test_no_file_names_a_package_index(texts: dict[str, str]) -> None:
    assert matches(INDEX_HOSTS, texts) == []


def test_no_file_names_a_path_of_one_machine(texts: dict[str, str]) -> None:
    assert matches(MACHINE_PATHS, texts) == []


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: folder.name)
@pytest.mark.parametrize(
    "name", ["README.md", "CHANGELOG.md", "LICENSE", "src/*/py.typed", "tests/test_*.py"]
)
def test_each_distribution_brings(folder: Path, name: str) -> None:
    assert list(folder.glob(name)) != []


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: folder.name)
def test_each_changelog_has_the_current_version(folder: Path) -> None:
    [version] = re.findall(
        r'^version = "(.+)"$', (folder / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert f"\n## {version}" in (folder / "CHANGELOG.md").read_text(encoding="utf-8")
