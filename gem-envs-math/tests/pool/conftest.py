"""What the tests of the pool share: a pool of a tree of its own, and what it is made to do."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gem._python.process_tree import VARIABLE
from gem.errors import GemError
from gem_envs_math.pool import Limits, Pool

PATIENT = Limits(deadline_s=60)
MakePool = Callable[..., Pool]


@pytest.fixture(autouse=True)
def _hazards_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv(VARIABLE, "")


@pytest.fixture
def make_pool() -> Iterator[MakePool]:
    """Return a function that makes a pool; each server that was used ends with the test."""
    made: list[Pool] = []

    def make(target: str = "hazards:verify", limits: Limits = PATIENT) -> Pool:
        made.append(Pool(target, limits))
        return made[-1]

    yield make
    for pool in made:
        end_server(pool)


@pytest.fixture
def pool(make_pool: MakePool) -> Pool:
    return make_pool()


def end_server(pool: Pool) -> None:
    """Kill the server of a pool, and return once it is gone."""
    try:
        server = pool.stats()["server"]
    except GemError:  # it was never there
        return
    pool.close()
    with suppress(ProcessLookupError):
        os.kill(server, signal.SIGKILL)
    wait_until_gone(server)


@pytest.fixture(name="wait_until_gone")
def _wait_until_gone() -> Callable[[int], None]:
    """Return a function that returns once a process has ended."""
    return wait_until_gone


def wait_until_gone(process: int) -> None:
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    assert select.select([descriptor], [], [], 30)[0], f"process {process} goes on"
    os.close(descriptor)
