"""What holds for every run of tests, and what `nox -s isolation` leaves out of its two runs.

It runs one case of a parametrized test whose cases are skipped alike: all need the same, and
`nox -s tests` runs them all. A first run is without the extras of a distribution, and a second one,
with them, of the tests that did not pass.
"""

from __future__ import annotations

import gc
import inspect
import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How fast a machine is decides no test: by itself, an example may take a fifth of a second.
settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any speed")

# A shell has its background jobs ignore interrupts, and so does what they start. Tests send
# interrupts to themselves and to programs that they start, and these must not ignore them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is printed is as wide as where there is no terminal. A process that runs tests beside others
# is told the width of that of the first.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)


SKIPS = re.compile(r"^[ \t].*(importorskip|skipif|\bskip\(|mark\.vector)", re.MULTILINE)
"""How a test, a fixture or a case says that it is skipped where a module is not installed.

What is not indented skips a file or all cases of a test alike.
"""
ADDRESS = re.compile(r" at 0x[0-9a-f]+>")
"""How the text of an object without one of its own ends: with where it is in memory."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a pair of runs."""
    write = "write the tests that passed, and the files of those that were skipped, to a JSON file"
    parser.addoption("--write-outcomes", type=Path, metavar="FILE", help=write)
    leave_out = "leave out the tests that passed when that file was written"
    parser.addoption("--leave-out-passed", type=Path, metavar="FILE", help=leave_out)
    one = "run one case of each parametrized test of which no case can be skipped"
    parser.addoption("--one-case", action="store_true", help=one)


def pytest_configure(config: pytest.Config) -> None:
    """Watch a run whose outcomes are asked for."""
    if path := config.getoption("--write-outcomes"):
        config.pluginmanager.register(_Outcomes(path))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse tests that each process calls otherwise, and leave out what the first run passed.

    Processes that run tests side by side have to find the same names.
    """
    if changing := [item.nodeid for item in items if ADDRESS.search(item.nodeid)]:
        raise pytest.UsageError(f"These names hold an address, give them ids: {changing[:3]}")
    left_out: set[str] = set()
    if config.getoption("--one-case"):
        left_out |= further_cases(items)
    path: Path | None = config.getoption("--leave-out-passed")
    if path is not None:
        left_out |= set(json.loads(path.read_text(encoding="utf-8"))["passed"])
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
        items[:] = [item for item in items if item.nodeid not in left_out]


def pytest_collection_finish() -> None:
    """Freeze what was imported and collected: the garbage collector then passes over it.

    It lives to the end, and with thousands of tests a full collection takes half a second.
    """
    gc.collect()
    gc.freeze()


def further_cases(items: list[pytest.Item]) -> set[str]:
    """Return the names of all cases of a parametrized test but the first.

    Where some cases may be skipped for want of an extra, all are run: each may want another.
    """
    found: set[str] = set()
    seen: set[str] = set()
    for item in items:
        if not hasattr(item, "callspec") or can_skip(item.path) or any(map(skips, fixtures(item))):
            continue
        test, _, _ = item.nodeid.partition("[")
        if test in seen:
            found.add(item.nodeid)
        seen.add(test)
    return found


def fixtures(item: pytest.Item) -> Iterator[Callable[..., object]]:
    """Yield the functions of the fixtures of a test."""
    info = item._fixtureinfo  # type: ignore[attr-defined]
    for definition in chain.from_iterable(info.name2fixturedefs.values()):
        yield definition.func


@cache
def can_skip(path: Path) -> bool:
    """Say whether a file of tests has a case that is skipped where a module is not installed."""
    return SKIPS.search(path.read_text(encoding="utf-8")) is not None


@cache
def skips(fixture: Callable[..., object]) -> bool:
    """Say whether a fixture of ours skips what asks for it; those of plugins never do."""
    if "site-packages" in Path(inspect.getfile(fixture)).parts:
        return False
    return SKIPS.search(inspect.getsource(fixture)) is not None


class _Outcomes:
    """Collects which tests pass and which are skipped, and writes it at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.passed: list[str] = []
        self.skipped_files: set[str] = set()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:  # a whole module
            self._skip(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self._skip(report.nodeid)
        elif report.passed and report.when == "call":
            self.passed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        outcomes = {"passed": self.passed, "skipped_files": sorted(self.skipped_files)}
        self.path.write_text(json.dumps(outcomes), encoding="utf-8")

    def _skip(self, nodeid: str) -> None:
        file, _, _ = nodeid.partition("::")
        self.skipped_files.add(file)
