"""Compare signatures before anything else; write what was shown once everything has passed."""

from __future__ import annotations

import importlib.metadata
import json
import os
import runpy
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from content import digest
from harness import chat_tokenizer
from recording import Run, checkout_faults, commit_of, files_read, write

from gem_integrations.frameworks import FRAMEWORKS, drift, recorded, signature

HERE = Path(__file__).parent
RUN = pytest.StashKey[Run]()
VERDICT = pytest.StashKey[list[str]]()
"""Why no result was written; empty where one was."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--framework", required=True)
    parser.addoption("--checkout", type=Path, help="the folder of a framework that is no package")
    parser.addoption("--published", type=Path, help="the framework's own example of `gem`")
    parser.addoption("--record", action="store_true", help="take the signatures here as known")


def pytest_configure(config: pytest.Config) -> None:
    name = str(config.getoption("--framework"))
    config.stash[RUN] = run = Run(name, HERE / name)
    if [Path(each).resolve() for each in config.args] != [run.folder.resolve()]:
        run.chosen.append(f"only {', '.join(config.args)} was asked for")
    stubs = run.folder / "stubs.py"
    if stubs.is_file():  # of what cannot be installed here, and is imported with the framework
        runpy.run_path(str(stubs))
    if name not in FRAMEWORKS:
        raise pytest.UsageError(f"{name!r} is no adapter. They are {', '.join(FRAMEWORKS)}")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Report drift as drift, and not as the failure of whatever met it first."""
    name = session.config.stash[RUN].name
    if session.config.getoption("--record") and _record(name, session.config):
        again = f"nox -s contract -- {name}"
        pytest.exit(f"The signatures of {name} are recorded. Run `{again}` now", returncode=0)
    changes = list(drift(name))
    if changes:
        lines = "\n  ".join(changes)
        pytest.exit(f"{name} has drifted from its recorded signatures:\n  {lines}", returncode=3)


def _record(name: str, config: pytest.Config) -> bool:
    """Take the signatures here as known in the checkout; return whether they are others."""
    known = recorded(name)
    known["recorded_from"] = _version(name, config)
    known["signatures"] = {target: signature(target) for target in known["signatures"]}
    path = HERE.parent / "src" / "gem_integrations" / "recorded" / f"{name}.json"
    before = path.read_text(encoding="utf-8")
    after = json.dumps(known, indent=2) + "\n"
    path.write_text(after, encoding="utf-8")
    return before != after


def _version(name: str, config: pytest.Config) -> str:
    checkout = config.getoption("--checkout")
    if checkout is not None:
        return commit_of(checkout)
    return importlib.metadata.version(FRAMEWORKS[name].distribution)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is about a published example that no distribution carries, unless given."""
    is_missing = config.getoption("--published") is None
    if is_missing and collection_path.name == "test_published.py":
        config.stash[RUN].chosen.append("--published was not given")
        return True
    return None


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    if items:
        items[0].config.stash[RUN].chosen.append(f"tests were deselected ({len(items)})")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    """Count what passed: a result says how much was asserted."""
    report = yield
    run = item.config.stash[RUN]
    if report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
        run.passed[item.path.relative_to(run.folder).as_posix()] += 1
    elif report.when == "call" or not report.passed:  # an error of a fixture counts, too
        run.not_passed.append(report.nodeid)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[Any]:
    """Keep that a whole file was skipped."""
    report = yield
    if report.skipped:
        collector.config.stash[RUN].not_passed.append(f"{report.nodeid}::")
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    run = config.stash[RUN]
    config.stash[VERDICT] = verdict = [] if session.exitstatus == 0 else ["it did not pass"]
    verdict += run.choices()
    if not verdict:
        verdict += _write(run, config)
        session.exitstatus = 1 if verdict else 0  # what was asked for whole has no result


def _write(run: Run, config: pytest.Config) -> list[str]:
    """Write the result, or return why there is none."""
    reads = os.environ.get("GEM_CONTRACT_READS")
    if reads is None:
        return [f"nothing watched what was read: run `nox -s contract -- {run.name}`"]
    framework, checkout = FRAMEWORKS[run.name], config.getoption("--checkout")
    files, faults = files_read(Path(reads), run.name)
    faults += run.faults()
    if checkout is not None:
        known = recorded(run.name)["recorded_from"]
        faults += checkout_faults(checkout, framework.module, known)
    if not faults:
        published = config.getoption("--published")
        more = {} if published is None else {"published": digest(published)}
        write(run, files, _version(run.name, config), **more)
    return faults


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    reasons = config.stash.get(VERDICT, ["it was interrupted"])
    if not reasons:
        terminalreporter.write_line("result.json is written")
    for each in reasons:
        terminalreporter.write_line(f"result.json stays as it was: {each}")


@pytest.fixture
def shown(request: pytest.FixtureRequest) -> Counter[str]:
    """What a test adds to: how many tokens, rewards, episodes it has compared."""
    return request.config.stash[RUN].shown


@pytest.fixture
def same_everywhere(request: pytest.FixtureRequest) -> list[str]:
    """Where the contract puts the digest of the episodes that all adapters play alike."""
    return request.config.stash[RUN].trajectories


@pytest.fixture
def checkout(request: pytest.FixtureRequest) -> Path:
    path: Path = request.config.getoption("--checkout")
    return path


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return chat_tokenizer()
