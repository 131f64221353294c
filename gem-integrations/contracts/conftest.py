"""Compare signatures before anything else; write what was shown once everything has passed."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import runpy
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from content import content_hash
from harness import chat_tokenizer

from gem_integrations.frameworks import FRAMEWORKS, drift, recorded, signature

HERE = Path(__file__).parent
NAME = pytest.StashKey[str]()
SHOWN = pytest.StashKey[Counter[str]]()
DIGEST = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--framework", choices=sorted(FRAMEWORKS), required=True)
    parser.addoption("--checkout", type=Path, help="the folder of a framework that is no package")
    parser.addoption("--published", type=Path, help="the framework's own example of `gem`")
    parser.addoption("--record", action="store_true", help="take the signatures here as known")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[NAME] = str(config.getoption("--framework"))
    config.stash[SHOWN], config.stash[DIGEST] = Counter(), []
    stubs = HERE / config.stash[NAME] / "stubs.py"
    if stubs.is_file():  # of what cannot be installed here, and is imported with the framework
        runpy.run_path(str(stubs))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Report drift as drift, and not as the failure of whatever met it first."""
    name = session.config.stash[NAME]
    if session.config.getoption("--record"):
        _record(name, session.config)
    changes = list(drift(name))
    if changes:
        lines = "\n  ".join(changes)
        pytest.exit(f"{name} has drifted from its recorded signatures:\n  {lines}", returncode=3)


def _record(name: str, config: pytest.Config) -> None:
    known = recorded(name)
    known["recorded_from"] = _version(name, config)
    known["signatures"] = {target: signature(target) for target in known["signatures"]}
    path = HERE.parent / "src" / "gem_integrations" / "recorded" / f"{name}.json"
    path.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


def _version(name: str, config: pytest.Config) -> str:
    checkout = config.getoption("--checkout")
    if checkout is None:
        return importlib.metadata.version(FRAMEWORKS[name].distribution)
    asked = ["git", "-C", str(checkout), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is about a published example that no distribution carries, unless given."""
    is_missing = config.getoption("--published") is None
    return True if is_missing and collection_path.name == "test_published.py" else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    """Count what passed: a result says how much was asserted."""
    report = yield
    if report.when == "call" and report.passed:
        item.config.stash[SHOWN]["tests"] += 1
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    config = session.config
    name, shown = config.stash[NAME], config.stash[SHOWN]
    is_whole = shown["tests"] == session.testscollected > 0  # none was left out or skipped
    if exitstatus != 0 or not is_whole or not config.stash[DIGEST]:
        return
    result = {
        "framework": name,
        "version": _version(name, config),
        "python": platform.python_version(),
        "content": content_hash(name),
        "trajectories": config.stash[DIGEST][-1],
        "asserted": dict(sorted(shown.items())),
    }
    path = HERE / name / "result.json"
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


@pytest.fixture
def shown(request: pytest.FixtureRequest) -> Counter[str]:
    """What a test adds to: how many tokens, rewards, episodes it has compared."""
    return request.config.stash[SHOWN]


@pytest.fixture
def same_everywhere(request: pytest.FixtureRequest) -> list[str]:
    """Where the contract puts the digest of the episodes that all adapters play alike."""
    return request.config.stash[DIGEST]


@pytest.fixture
def checkout(request: pytest.FixtureRequest) -> Path:
    path: Path = request.config.getoption("--checkout")
    return path


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return chat_tokenizer()
