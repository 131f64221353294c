"""One server serves a whole tree of processes, and ends with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gem._python.process_tree import root
from gem_envs_math.pool import Limits, Pool

MakePool = Callable[..., Pool]
Wait = Callable[[int], None]

FOLDER = str(Path(__file__).parent)

ASK = """
import json, sys
from gem_envs_math.pool import Limits, Pool
pool = Pool("hazards:verify", Limits(*json.loads(sys.argv[1])))
pool.ask("1", "1")
print(json.dumps(pool.stats()), flush=True)
sys.stdin.read()
"""
FORK = """
import os, sys
from gem_envs_math.pool import Limits, Pool
pool = Pool("hazards:verify", Limits(deadline_s=60))
pool.ask("1", "1")
child = os.fork()
for number in range(200):
    reply = pool.ask(f"{number} {child}", "")
    assert reply == ("wrong", "compared"), reply
# One write: an unbuffered print() makes two, and those of two processes may mix.
os.write(1, b"%d " % pool.stats()["server"])
if child:
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
NARROW = """
import json, resource, sys
from gem_envs_math.pool import Limits, Pool
_, hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (256 << 20, hard))
print(json.dumps(Pool("hungry:verify", Limits(deadline_s=60)).ask("1", "1")), flush=True)
"""
SHARE = """
import json, multiprocessing, sys
import hazards
from gem_envs_math.pool import Pool
if __name__ == "__main__":
    pool = Pool("hazards:verify", hazards.PATIENT)
    servers = [pool.stats()["server"]]
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(2) as processes:
        servers += processes.map(hazards.served, range(4))
    print(json.dumps(servers))
"""


def started(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a program: in a tree of its own, unless this process is in one."""
    pipe = subprocess.PIPE
    line = [sys.executable, "-c", code, *arguments]
    environment = {**os.environ, "PYTHONPATH": FOLDER}
    return subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True, env=environment)


def facts(program: subprocess.Popen[str]) -> Any:
    """Return what a program tells first."""
    assert program.stdout is not None
    return json.loads(program.stdout.readline())


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_processes_of_whatever_origin_share_the_server(method: str) -> None:
    with started(SHARE, method) as program:
        mine, *theirs = facts(program)
    assert theirs == [mine] * 4


def test_a_fork_in_the_middle_of_it_shares_the_server_and_no_connection(pool: Pool) -> None:
    with started(FORK) as program:
        told, _ = program.communicate("")
    assert program.returncode == 0
    first, second = told.split()
    assert first == second


def test_programs_side_by_side_have_a_server_each() -> None:
    with started(ASK, "[]") as one, started(ASK, "[]") as other:
        assert facts(one)["server"] != facts(other)["server"]
        one.communicate("")
        other.communicate("")


@pytest.mark.parametrize("ending", ["exit", "kill"])
def test_nothing_outlives_the_root(ending: str, wait_until_gone: Wait) -> None:
    with started(ASK, "[]") as program:
        server = facts(program)
        if ending == "kill":
            program.send_signal(signal.SIGKILL)
        program.communicate("")
    for process in (server["server"], *server["workers"]):
        wait_until_gone(process)


def test_a_server_without_work_ends_and_another_takes_its_place(
    make_pool: MakePool, wait_until_gone: Wait
) -> None:
    pool = make_pool(limits=Limits(deadline_s=60, idle_s=0.2))
    first = pool.stats()
    for process in (first["server"], *first["workers"]):
        wait_until_gone(process)
    assert pool.ask("1", "1") == ("right", "compared")


def test_a_server_may_load_longer_than_it_waits_for_work(make_pool: MakePool) -> None:
    limits = Limits(deadline_s=60, idle_s=0.4)  # loading takes 0.5 s
    pool = make_pool("lengthy:verify", limits)
    assert pool.ask("1", "1") == ("right", "compared")


def test_the_end_of_who_started_the_server_is_not_the_servers(pool: Pool) -> None:
    root()
    with started(ASK, json.dumps(pool.limits)) as program:
        server = facts(program)["server"]
        program.communicate("")
    assert pool.stats()["server"] == server


def test_the_limits_of_who_started_the_server_are_not_the_servers() -> None:
    with started(NARROW) as program:
        assert facts(program) == ["right", "compared"]
        program.communicate("")
