"""What holds for every run of tests, and what `nox -s isolation` leaves out of its two runs.

It runs one case of each parametrized test: all of them import the same, and `nox -s tests` runs
them all. A first run is without the extras of a distribution, and a second one, with them, of the
tests that did not pass.
"""

from __future__ import annotations

import gc
import json
import os
import re
import signal
from pathlib import Path

import pytest

# A shell has its background jobs ignore interrupts, and so does what they start. Tests send
# interrupts to themselves and to programs that they start, and these must not ignore them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is printed is as wide as where there is no terminal. A process that runs tests beside others
# is told the width of that of the first.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)


ADDRESS = re.compile(r" at 0x[0-9a-f]+>")
"""How the text of an object without one of its own ends: with where it is in memory."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a pair of runs."""
    write = "write the tests that passed, and the files of those that were skipped, to a JSON file"
    parser.addoption("--write-outcomes", type=Path, metavar="FILE", help=write)
    leave_out = "leave out the tests that passed when that file was written"
    parser.addoption("--leave-out-passed", type=Path, metavar="FILE", help=leave_out)
    one = "run the first case of each parametrized test, and those that have marks of their own"
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
    """Keep what was imported and collected out of each later search for garbage.

    It lives to the end, and thousands of tests are a heap that takes half a second to search.
    """
    gc.collect()
    gc.freeze()


def further_cases(items: list[pytest.Item]) -> set[str]:
    """Return the names of all cases of a parametrized test but the first.

    Those that have marks of their own are not among them: such a mark often says which extra a case
    needs.
    """
    found: set[str] = set()
    seen: set[str] = set()
    for item in items:
        case = getattr(item, "callspec", None)
        if case is None or case.marks:
            continue
        test, _, _ = item.nodeid.partition("[")
        if test in seen:
            found.add(item.nodeid)
        seen.add(test)
    return found


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
