"""The end of a pool: whatever ends it, nothing of it is left."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from gem.errors import EnvClosed
from gem.hosting import RESET, STEP
from gem.hosting import _supervisor as supervisor
from gem.hosting._processes import ProcessHost
from gem.hosting._recipes import Recipe
from gem.hosting._supervisor import StartMethod

pytestmark = pytest.mark.slow

METHODS = get_args(StartMethod)


def used(**options: Any) -> ProcessHost:
    """Return a pool whose two workers have an episode each."""
    pool = ProcessHost(2, **options)
    slots = [pool.open(Recipe("trouble:Walk")) for _ in range(2)]
    pool.submit([(RESET, slot, 1) for slot in slots])
    assert len(pool.collect(2)) == 2
    wait_until_known(pool)
    return pool


def wait_until_known(pool: ProcessHost) -> None:
    """Return once the pool was told of every worker's process: to kill process 0 would kill us."""
    while 0 in pool.processes:
        pool.pump(1)


def supervisor_of(pool: ProcessHost) -> int:
    process = pool._supervisor._process
    return process.pid if process else pool._supervisor._forked


def holdings() -> set[str]:
    """Return this process's descriptors and threads. Those of other tests may end meanwhile."""
    return descriptors() | {f"thread {each.ident}" for each in threading.enumerate()}


def descriptors() -> set[str]:
    return {*map(str, Path("/proc/self/fd").iterdir())}


def gone(process: int) -> bool:
    """Say whether a process does not run any more."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until_gone(process: int) -> None:
    """Return once a process does not run any more; pytest's timeout bounds it."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    select.select([descriptor], [], [])
    os.close(descriptor)


@pytest.mark.parametrize("method", METHODS)
def test_closing_leaves_no_process_thread_or_descriptor(method: StartMethod) -> None:
    before = holdings()
    pool = used(start_method=method)
    processes = [*pool.processes, supervisor_of(pool)]
    pool.close()
    pool.close()

    assert [gone(process) for process in processes] == [True] * 3
    assert holdings() <= before


def test_leaving_by_an_exception_leaves_nothing_either() -> None:
    before = holdings()
    pool = used(start_method="fork")
    processes = [*pool.processes, supervisor_of(pool)]
    with pytest.raises(ValueError, match="mine"), pool:
        raise ValueError("mine")

    assert [gone(process) for process in processes] == [True] * 3
    assert holdings() <= before


def test_a_pool_that_is_forgotten_leaves_nothing_either() -> None:
    before = holdings()
    pool = used(start_method="fork")
    processes = [*pool.processes, supervisor_of(pool)]
    del pool
    gc.collect()

    assert [gone(process) for process in processes] == [True] * 3
    assert holdings() <= before


def test_restarts_leave_nothing_behind() -> None:
    with used(start_method="fork") as pool:
        before = descriptors()
        for _ in range(3):
            os.kill(pool.processes[0], signal.SIGKILL)
            pool.submit([(STEP, slot, "a") for slot in range(2)])
            pool.collect(2)
            wait_until_known(pool)

        assert pool.restarts == 3
        assert len(descriptors()) <= len(before)  # those of other tests may be freed meanwhile


@pytest.mark.parametrize(
    "use",
    [
        lambda pool: pool.open(Recipe("trouble:Walk")),
        lambda pool: pool.submit([]),
        lambda pool: pool.collect(),
    ],
)
def test_a_closed_pool_refuses_further_use(use: Callable[[ProcessHost], object]) -> None:
    pool = ProcessHost(1, start_method="fork")
    pool.close()

    with pytest.raises(EnvClosed, match="used after close"):
        use(pool)


def test_what_fails_to_close_is_warned_of() -> None:
    pool = ProcessHost(1, start_method="fork", close_timeout_s=60)
    slot = pool.open(Recipe("trouble:BadCloser"))
    pool.submit([(RESET, slot, 1)])
    pool.collect()

    with pytest.warns(RuntimeWarning, match="Closing an environment failed: RuntimeError: out of"):
        pool.close()


@pytest.mark.parametrize("name", ["StuckCloser", "Walk"])
def test_what_hangs_at_the_end_is_killed(name: str) -> None:
    pool = ProcessHost(1, start_method="fork", close_timeout_s=0.2)
    slot = pool.open(Recipe(f"trouble:{name}"))
    pool.submit([(RESET, slot, 1)])
    pool.collect()
    if name == "Walk":
        pool.submit([(STEP, slot, "deaf")])
    wait_until_known(pool)
    (process,) = pool.processes
    pool.close()

    assert gone(process)


def test_an_answer_that_nobody_collected_is_passed_over() -> None:
    pool = ProcessHost(1, start_method="fork", close_timeout_s=0.2)
    slot = pool.open(Recipe("trouble:StuckCloser"))
    pool.submit([(RESET, slot, 1)])
    pool.collect()
    wait_until_known(pool)
    pool.submit([(STEP, slot, "a")])
    select.select([pool], [], [])
    (process,) = pool.processes
    pool.close()

    assert gone(process)


@pytest.mark.parametrize("harm", ["hang", "deaf"])
def test_closing_waits_no_longer_for_a_step_than_its_deadline(harm: str) -> None:
    pool = ProcessHost(2, start_method="fork", close_timeout_s=3600)
    slots = [pool.open(Recipe("trouble:Walk")) for _ in range(4)]
    pool.submit([(RESET, slot, 1) for slot in slots])
    pool.collect(4)
    wait_until_known(pool)
    processes = pool.processes
    pool._timeout_s = 0.1  # only now: no reset may be late
    pool.submit([(STEP, slot, harm) for slot in slots])
    pool.close()

    assert [gone(process) for process in processes] == [True] * 2


def test_a_slow_batch_is_left_where_it_is() -> None:
    pool = ProcessHost(1, start_method="fork", close_timeout_s=60)
    slots = [pool.open(Recipe("trouble:Slow")) for _ in range(100)]
    pool.submit([(RESET, slot, 1) for slot in slots])
    pool.collect(100)
    pool.submit([(STEP, slot, "a") for slot in slots])
    pool.collect(1)
    served = []
    pool._take = lambda worker, frame: served.append(frame)  # type: ignore[method-assign]
    pool.close()

    assert served == []


@pytest.mark.parametrize("order", ["workers", "supervisor"])
def test_closing_copes_with_what_ended_before(order: str) -> None:
    pool = used(start_method="fork")
    processes = [*pool.processes, supervisor_of(pool)]
    for process in processes[:2] if order == "workers" else processes[2:]:
        os.kill(process, signal.SIGKILL)
        os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT) if order == "supervisor" else None
    pool.close()

    for process in processes:
        wait_until_gone(process)


def test_closing_after_a_loss_that_nobody_waits_for() -> None:
    pool = used(start_method="fork")
    os.kill(pool.processes[0], signal.SIGKILL)
    while not pool.restarts:
        pool.pump(1)
    pool.close()


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_fork_holds_no_end_open() -> None:
    with used(start_method="fork") as pool:
        child = os.fork()
        if child == 0:  # pragma: no cover - only the child enters
            os._exit(pool._supervisor._control.fileno() + 1)

        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_a_fork_runs_closes_the_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, theirs = socket.socketpair()
    with mine, theirs:
        monkeypatch.setattr(supervisor, "ends_of_hosts", {mine})
        supervisor._let_go()

        assert mine.fileno() == -1
        assert theirs.recv(1) == b""


def test_a_pool_is_none_of_a_forks_business(monkeypatch: pytest.MonkeyPatch) -> None:
    with used(start_method="fork") as pool:
        _, leave, args, _ = pool._leave.peek() or pytest.fail("it has left")
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: 1)
            leave(*args)

        pool.submit([(STEP, 0, "a")])
        assert len(pool.collect()) == 1


def test_a_supervisor_has_nothing_to_report_for_now_and_no_more_once_closed() -> None:
    its_supervisor = supervisor.Supervisor("fork")
    now = its_supervisor.reports()
    its_supervisor.close()
    its_supervisor.close()

    assert now == []
    with pytest.raises(EOFError):
        its_supervisor.reports()


def test_orders_to_a_supervisor_that_is_gone_are_lost_quietly() -> None:
    its_supervisor = supervisor.Supervisor("fork")
    process = its_supervisor._forked
    os.kill(process, signal.SIGKILL)
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    mine, theirs = socket.socketpair()
    with mine, theirs:
        its_supervisor.start(0, theirs, mine.fileno())
    its_supervisor.signal(0, signal.SIGUSR1)
    its_supervisor.close()

    assert gone(process)


def test_a_pool_can_be_watched_from_outside() -> None:
    with used(start_method="fork") as pool:
        pool.submit([(STEP, 0, "a")])
        select.select([pool], [], [])

        assert [slot for slot, _ in pool.collect(0)] == [0]


SCRIPT = """
import sys, time
sys.path.insert(0, {path!r})
import gem
from gem.hosting import RESET, STEP
from gem.hosting._processes import ProcessHost
from gem.hosting._recipes import Recipe

def main():
    gem.register("trouble:Walk", "troubled:Walk")
    pool = ProcessHost(2, start_method={method!r})
    slots = [pool.open(Recipe("trouble:Walk")) for _ in range(2)]
    pool.submit([(RESET, slot, 1) for slot in slots])
    pool.collect(2)
    pool.submit([(STEP, 0, "deaf")])
    while 0 in pool.processes:
        pool.pump(1)
    process = pool._supervisor._process
    print(*pool.processes, process.pid if process else pool._supervisor._forked, flush=True)
    {rest}

main()
"""


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rest", ["time.sleep(600)", "return", "raise ValueError"])
def test_a_process_that_ends_takes_its_workers_along(method: str, rest: str) -> None:
    code = SCRIPT.format(path=str(Path(__file__).parent), method=method, rest=rest)
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert parent.stdout is not None
    with parent, parent.stdout:
        processes = [int(word) for word in parent.stdout.readline().split()]
        if rest.startswith("time"):
            parent.kill()

    assert len(processes) == 3
    for process in processes:
        wait_until_gone(process)
