"""Every program of `attacks/` works without the wall, where that is safe, and not within."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gem_tools.sandbox import ExecRequest, ExecResult
from gem_tools.sandbox.bwrap import BwrapSandbox

pytestmark = pytest.mark.slow

_AS_ORDINARY = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]
_HEADER_LINES = 10
_PATIENCE_S = 60.0
_WITHIN_S = 2.0
"""How long what never ends by itself may run. All else has our whole patience."""
_RESTING = 3 + 2 * 2
"""bubblewrap twice, the zygote, and two jails of two processes that stand ready."""


@dataclass(frozen=True)
class Attack:
    """One program of `attacks/`, and what its first lines say about it."""

    path: Path
    facts: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> Attack:
        lines = path.read_text().splitlines()[:_HEADER_LINES]
        said = (line[2:].partition(": ") for line in lines if line.startswith("# "))
        return cls(path, {name: value for name, _, value in said})

    @property
    def endings(self) -> list[str]:
        return self.facts.get("ends", "ok error").split()

    @property
    def most_s(self) -> float:
        return _WITHIN_S if "timeout" in self.endings else _PATIENCE_S


ATTACKS = [
    Attack.read(path) for path in sorted((Path(__file__).parent / "attacks").glob("*.attack"))
]


OTHERS: set[int] = set()
"""Children of this process that are of other tests, such as a cluster that serves them all."""


@pytest.fixture(scope="module", autouse=True)
def _others_are_left_out() -> None:
    OTHERS.update(children().get(os.getpid(), []))


def children() -> dict[int, list[int]]:
    """Return the numbers of every process's children, zombies left out."""
    found: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with suppress(OSError):
                state, parent = (path / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z":
                    found.setdefault(int(parent), []).append(int(path.name))
    return found


def descendants(root: int) -> set[int]:
    """Return the numbers of all processes below one, but for those that are of other tests."""
    below = children()
    found = [process for process in below.get(root, []) if process not in OTHERS]
    for process in found:
        found += below.get(process, [])
    return set(found)


def held_bytes(processes: set[int]) -> int:
    """Return the memory that belongs to these processes and to no file."""
    held = 0
    for process in processes:
        with suppress(OSError):
            for line in Path(f"/proc/{process}/status").read_text().splitlines():
                if line.startswith(("RssAnon:", "RssShmem:")):
                    held += int(line.split()[1]) * 1024
    return held


@dataclass
class World:
    """What is worth attacking on this machine, and whether it was."""

    folder: Path
    secret: str = field(default_factory=lambda: "secret-" + secrets.token_hex(16))
    marker: str = field(default_factory=lambda: "gem-test-" + secrets.token_hex(8))
    peak_bytes: int = 0

    def __post_init__(self) -> None:
        self.folder.chmod(0o777)
        self.secret_file = self.folder / "answers.txt"
        self.secret_file.write_text(self.secret)
        self.secret_file.chmod(0o644)
        self.target = self.folder / "target.txt"
        os.environ["GEM_TEST_SECRET"] = self.secret
        self._listen()
        code = "import time; time.sleep(600)"
        self._sentinel = subprocess.Popen([sys.executable, "-c", code, self.secret])

    def _listen(self) -> None:
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._unix = socket.socket(socket.AF_UNIX)
        self._unix.bind(str(self.folder / "unix"))
        (self.folder / "unix").chmod(0o777)
        self._abstract = socket.socket(socket.AF_UNIX)
        self._abstract.bind("\0" + self.marker)
        for server in (self._unix, self._abstract):
            server.listen()
        for end in (self._tcp, self._udp, self._unix, self._abstract):
            end.setblocking(False)

    def close(self) -> None:
        for end in (self._tcp, self._udp, self._unix, self._abstract):
            end.close()
        self._sentinel.kill()
        self._sentinel.wait()
        del os.environ["GEM_TEST_SECRET"]
        for path in self._left_files():
            path.unlink(missing_ok=True)

    def as_argument(self) -> str:
        return json.dumps(
            {
                "secret_file": str(self.secret_file),
                "target": str(self.target),
                "marker": self.marker,
                "tcp_port": self._tcp.getsockname()[1],
                "udp_port": self._udp.getsockname()[1],
                "unix": str(self.folder / "unix"),
                "sentinel": self._sentinel.pid,
            }
        )

    def _left_files(self) -> list[Path]:
        folders = ("/", "/tmp", "/dev/shm", "/dev", "/usr", "/usr/bin", "/etc")
        return [Path(folder, self.marker) for folder in folders]

    def marked_processes(self) -> list[int]:
        """Return the living processes that were started with this world's marker."""
        found = []
        for path in Path("/proc").iterdir():
            with suppress(OSError, ValueError):
                marked = (
                    f"GEM_TEST_MARKER={self.marker}".encode() in (path / "environ").read_bytes()
                )
                if marked and (path / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    found.append(int(path.name))
        return found

    def is_hurt(self, effect: str, result: ExecResult) -> bool:
        """Say whether an attack had its effect."""
        output = result.stdout + result.stderr
        if effect == "leaks":
            return self.secret.encode() in output
        if effect == "writes":
            return self._was_written()
        if effect == "reaches":
            return any(map(_was_reached, (self._tcp, self._udp, self._unix, self._abstract)))
        if effect == "kills":
            return self._sentinel.poll() is not None
        if effect == "succeeds":
            return b"succeeded" in output
        if effect == "grows":
            return self.peak_bytes > 800 << 20
        if effect == "floods":
            return len(output) > 2 << 20
        if effect == "forges":
            return result.exit_code != 7
        assert effect in {"survives", "poisons", "none"}, effect
        return False  # what stays behind is looked for after every attack

    def _was_written(self) -> bool:
        if self.target.exists() or any(path.exists() for path in self._left_files()):
            return True
        if not self.secret_file.exists() or self.secret_file.read_text() != self.secret:
            return True
        return self.secret_file.stat().st_mode & 0o777 != 0o644


def _was_reached(server: socket.socket) -> bool:
    try:
        if server.type == socket.SOCK_DGRAM:
            server.recv(10)
        else:
            server.accept()[0].close()
        return True
    except BlockingIOError:
        return False


def wait_until_at_rest() -> set[int]:
    """Wait until only what stands ready is left below this process; return what is more."""
    limit = time.monotonic() + _PATIENCE_S
    while True:
        processes = descendants(os.getpid())
        jailed = {process for process in processes if b"sleep(600)" not in _command(process)}
        if len(jailed) == _RESTING:
            return set()
        if time.monotonic() > limit:
            return jailed
        time.sleep(0.01)


def _command(process: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


class Watcher(threading.Thread):
    """Keeps the highest sum of the memory below this process, but for the sentinel's."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.005):
            held = held_bytes(descendants(os.getpid()))
            self._world.peak_bytes = max(self._world.peak_bytes, held)

    def __enter__(self) -> Watcher:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


@pytest.fixture
def world() -> Iterator[World]:
    folder = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="gem-world-"))
    world = World(folder)
    try:
        yield world
    finally:
        world.close()
        shutil.rmtree(folder)


def run_bare(attack: Attack, world: World) -> tuple[ExecResult, bool]:
    """Run an attack without any wall; say also whether something of it still runs."""
    environment = {**os.environ, "GEM_TEST_MARKER": world.marker}
    with tempfile.TemporaryFile() as output, world.secret_file.open() as left_open:
        process = subprocess.Popen(
            [sys.executable, str(attack.path), world.as_argument()],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            pass_fds=[left_open.fileno()],
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(attack.most_s)
        survivors = world.marked_processes()
        for survivor in survivors:
            with suppress(ProcessLookupError):
                os.kill(survivor, signal.SIGKILL)
        process.wait()
        output.seek(0)
        code = process.returncode
        return ExecResult("ok", code, None, output.read(), b""), bool(survivors)


def _is_for_this_machine(attack: Attack) -> bool:
    return attack.facts.get("machine", platform.machine()) == platform.machine()


CONTAINED = [attack for attack in ATTACKS if _is_for_this_machine(attack)]
CONTROLLED = [attack for attack in CONTAINED if attack.facts["control"].startswith("yes")]
NEXT_PROGRAM = "import json, math, os; print(json.loads('[1]'), math.pi > 3, os.listdir())"


@pytest.mark.parametrize("attack", CONTAINED, ids=lambda attack: attack.path.stem)
def test_the_wall_holds(attack: Attack, world: World, sandbox: BwrapSandbox) -> None:
    request = ExecRequest(
        attack.path.read_text(),
        arguments=(world.as_argument(),),
        timeout_s=attack.most_s,
        memory_mb=256,
    )
    with Watcher(world):
        result = asyncio.run(sandbox.run(request))
    after = asyncio.run(sandbox.run(ExecRequest(NEXT_PROGRAM)))

    assert not world.is_hurt(attack.facts["effect"], result), result
    assert result.status in attack.endings, result
    assert after.stdout == b"[1] True []\n", after
    assert wait_until_at_rest() == set()


@pytest.mark.parametrize("attack", CONTROLLED, ids=lambda attack: attack.path.stem)
def test_the_attack_works_without_the_wall(attack: Attack, world: World) -> None:
    result, survives = run_bare(attack, world)

    effect = attack.facts["effect"]
    worked = survives if effect == "survives" else world.is_hurt(effect, result)
    limit = time.monotonic() + _PATIENCE_S
    while not worked and effect in {"kills", "reaches"} and time.monotonic() < limit:
        worked = world.is_hurt(effect, result)  # the kernel may take its time after the attack
    if not worked and "where" in attack.facts["control"]:
        pytest.skip(f"this kernel does not offer it: {result.stdout.decode(errors='replace')}")
    assert worked, result


@pytest.mark.timeout(1200)  # the test above, once for each attack
@pytest.mark.skipif(os.geteuid() != 0, reason="this is an ordinary user already")
def test_the_wall_holds_for_an_ordinary_user(sandbox: BwrapSandbox) -> None:
    python = _python_of_an_ordinary_user()
    if python is None:
        pytest.skip("no interpreter of this version is open to ordinary users")
    tests = "test_the_wall_holds and not ordinary_user"
    options = ["-q", "-p", "no:cacheprovider", "-k", tests]

    done = subprocess.run(
        [*python, "-m", "pytest", *options, __file__], capture_output=True, text=True, check=False
    )

    last = (done.stdout.strip().splitlines() or [done.stderr])[-1]
    assert f"{len(CONTAINED)} passed" in last, done.stdout[-3000:] + done.stderr[-3000:]


def _python_of_an_ordinary_user() -> list[str] | None:
    path = ":".join(folder for folder in sys.path if folder)
    environment = ["env", "-i", "PATH=/usr/bin:/bin", "HOME=/tmp", f"PYTHONPATH={path}"]
    for python in (sys.executable, "/usr/bin/python3"):
        command = [*_AS_ORDINARY, *environment, "PYTHONDONTWRITEBYTECODE=1", python]
        code = "import sys, sysconfig, pytest; print(sysconfig.get_python_version())"
        done = subprocess.run([*command, "-c", code], capture_output=True, text=True, check=False)
        if done.stdout.strip() == sysconfig.get_python_version():
            return command
    return None
