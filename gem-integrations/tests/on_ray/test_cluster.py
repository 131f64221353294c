"""Which Ray is used, how private the own one is, and that nothing of it is left."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import gem
from gem.errors import BadArguments
from gem.specs import EnvSpec

from .programs import Program

pytestmark = pytest.mark.slow

LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}

OWN = """
import os, signal, sys
import gem
from gem.specs import EnvSpec
from gem_integrations.ray.cluster import shutdown

def children(thread):
    try:
        return [int(child) for child in (thread / "children").read_text().split()]
    except OSError:  # it has ended meanwhile
        return []

def below(parent):
    for thread in __import__("pathlib").Path(f"/proc/{parent}/task").glob("*"):
        for child in children(thread):
            yield child
            yield from below(child)

def started():
    vector = gem.make_vec(EnvSpec(id="perilous:Walk", target="perilous:Walk"), backend="ray")
    vector.reset()
    return vector

vector = started()
if sys.argv[1] == "left the second":
    vector.close()
    shutdown()
    vector = started()
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
print(*below(os.getpid()), flush=True)
if sys.argv[1] == "killed":
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)
"""

CLUSTER = """
import sys
import ray
from gem_integrations.ray.guard import alone_in_starting
with alone_in_starting():
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
"""

FAILS_ONCE = """
import sys
import ray
from gem_integrations.ray import guard

start = ray.init
failed = set()

def init(*args, **options):
    start(*args, **options)
    if not failed:
        failed.update(guard._children())
        raise Exception("The current node timed out during startup.")

ray.init = init
answer = guard._started(sys.argv[1], 1)
print(*answer, len(failed) > 0, failed & set(guard._children()), ray.is_initialized())
guard._end()
"""

GUEST = """
import sys
import gem
from gem.specs import EnvSpec
if sys.argv[2] == "already":
    import ray
    ray.init(sys.argv[1], log_to_driver=False, configure_logging=False)
options = {} if sys.argv[2] == "already" else {"address": sys.argv[1]}
walk = EnvSpec(id="perilous:Walk", target="perilous:Walk")
with gem.make_vec(walk, backend="ray", backend_options=options) as vector:
    vector.reset()
import ray
print(ray.get_runtime_context().gcs_address)
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    temp = Path(tempfile.mkdtemp(dir="/tmp"))  # Ray's sockets lie below: no room for a long path
    yield Program(tmp_path, temp)
    shutil.rmtree(temp)


def test_nothing_is_left_of_two_rays_when_their_program_ends(program: Program) -> None:
    done = program.run(OWN, "left the second")

    assert done.stderr == ""
    assert len(done.stdout.split()) > 4
    assert remaining(done.stdout, program.temp) == []
    assert list(program.home.iterdir()) == []


def remaining(processes: str, folder: Path) -> list[str]:
    """Wait until processes and what is in a folder are gone, or for a while; return the rest."""
    until = time.monotonic() + 60
    while True:
        running = [each for each in processes.split() if is_running(each)]
        left = [*running, *(path.name for path in folder.iterdir())]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.05)


def is_running(process: str) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[Program, str]]:
    """Return how to run a program beside a Ray that another program started, and its address."""
    temp = Path(tempfile.mkdtemp(dir="/tmp"))
    program = Program(temp, temp)
    # Without a token, and not to be reached from elsewhere.
    program.env.update(RAY_AUTH_MODE="disabled", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")
    with subprocess.Popen(
        program.command(CLUSTER),
        env=program.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as host:
        assert host.stdout is not None
        yield program, host.stdout.readline().strip()
        assert host.stdin is not None
        host.stdin.close()
    shutil.rmtree(temp, ignore_errors=True)  # what that Ray started may write here to the end


@pytest.mark.parametrize("how", ["already", "by address"])
def test_a_cluster_that_runs_is_used(cluster: tuple[Program, str], how: str) -> None:
    program, address = cluster

    done = program.run(GUEST, address, how)

    assert (done.stdout, done.stderr) == (f"{address}\n", "")


def test_where_no_ray_runs_the_address_is_one_error(program: Program) -> None:
    done = program.run(GUEST, "127.0.0.1:9", "by address")

    assert done.stderr.splitlines()[-1].startswith("gem.errors.BadArguments: The backend 'ray'")


def test_a_second_address_is_refused(walk: EnvSpec) -> None:
    with gem.make_vec(walk, backend="ray"):
        pass

    with pytest.raises(BadArguments, match="is connected to the Ray at"):
        gem.make_vec(walk, backend="ray", backend_options={"address": "10.0.0.1:6379"})


def test_an_own_ray_listens_on_the_loopback_interface_alone_and_ends_with_its_program(
    program: Program,
) -> None:
    with subprocess.Popen(
        program.command(OWN, "killed"),
        env=program.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        processes = running.stdout.readline()
        sockets = {each for process in processes.split() for each in sockets_of(int(process))}
        heard = [address for address, inode in listening() if inode in sockets]
        running.communicate()

    assert len(heard) > 3
    assert set(heard) <= LOOPBACK
    assert remaining(processes, program.temp) == []
    assert list(program.home.iterdir()) == []


def test_an_own_ray_that_fails_in_starting_is_ended_and_another_one_started(
    program: Program,
) -> None:
    done = program.run(FAILS_ONCE, str(program.temp))

    assert done.stdout == "address True set() True\n"


def sockets_of(process: int) -> Iterator[str]:
    with contextlib.suppress(FileNotFoundError):  # it has ended meanwhile
        for each in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                name = str(each.readlink())
                if name.startswith("socket:["):
                    yield name[8:-1]


def listening() -> Iterator[tuple[str, str]]:
    """Return the address of every socket that is listened on, in hexadecimal, and its inode."""
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                yield fields[1].partition(":")[0], fields[9]
