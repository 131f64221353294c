"""What becomes of a run whose process is killed, interrupted, or left without disk."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Key = tuple[str, int, int, int]
Fingerprints = Callable[[Path], dict[Key, str]]

EVALUATION = ["eval", "tiny:Guess", "tiny:Lamps", "--policy", "solver", "--policy", "random"]
EVALUATION += ["--policy", "scripted:gem_eval_tiny.policies:Patient"]
EVALUATION += ["--episodes", "200", "--seed", "0", "--concurrency", "8"]
QUIET = "--json"  # a run of more than ten seconds would tell how far it is
TOTAL = 1200
SIZE = 1_480_000  # bytes of the log when the last policy begins, about

LIMITED = """
import resource, sys
from gem.cli._main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture(scope="module")
def expected(
    site: Path, tmp_path_factory: pytest.TempPathFactory, fingerprints: Fingerprints
) -> dict[Key, str]:
    """Return the fingerprints of a run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    from gem.cli._main import main

    assert main([*EVALUATION, QUIET, "--out", str(folder)]) == 0
    return fingerprints(folder)


@pytest.fixture
def begin(variables: dict[str, str], tmp_path: Path) -> Iterator[Callable[[], Process]]:
    """Return a function that starts the evaluation in a process of its own, in `run`.

    It never ends by itself: its last policy gives no answer.
    """
    started = []

    def start() -> Process:
        process = subprocess.Popen(
            [sys.executable, "-m", "gem", *EVALUATION, QUIET, "--out", "run"],
            cwd=tmp_path,
            env={**variables, "GEM_EVAL_TINY_WAITS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


Process = subprocess.Popen[str]


def wait_for_log(process: Process, log: Path, size: int) -> None:
    """Return as soon as the log is so many bytes long."""
    while process.poll() is None:
        if log.exists() and log.stat().st_size >= size:
            return
        time.sleep(0.001)  # the process that is waited for needs the processor more


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3])
def test_a_killed_run_goes_on_to_the_same_episodes(
    begin: Callable[[], Process],
    gem_env: Run,
    tmp_path: Path,
    expected: dict[Key, str],
    fingerprints: Fingerprints,
    share: float,
) -> None:
    process = begin()
    wait_for_log(process, tmp_path / "run" / "episodes.jsonl", int(share * SIZE))
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = (tmp_path / "run" / "episodes.jsonl").read_bytes()
    assert before.count(b"\n") < TOTAL

    done = gem_env("eval", "--resume", "run", QUIET)

    assert (done.returncode, done.stderr) == (0, "")
    assert fingerprints(tmp_path / "run") == expected
    whole = before[: before.rfind(b"\n") + 1]
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes().startswith(whole)
    assert gem_env("replay", "run", "--verify").returncode == 0


def test_ctrl_c_keeps_what_finished_and_says_how_to_go_on(
    begin: Callable[[], Process],
    gem_env: Run,
    tmp_path: Path,
    expected: dict[Key, str],
    fingerprints: Fingerprints,
) -> None:
    process = begin()
    wait_for_log(process, tmp_path / "run" / "episodes.jsonl", SIZE // 10)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()

    kept = len(fingerprints(tmp_path / "run"))
    assert (process.returncode, out) == (130, "")
    assert err == (
        f"gem-env eval: interrupted. {kept} of {TOTAL} episodes are kept in run. "
        "Go on with: gem-env eval --resume run\n"
    )
    assert gem_env("eval", "--resume", "run").returncode == 0
    assert fingerprints(tmp_path / "run") == expected


@pytest.mark.parametrize(("hash_seed", "concurrency"), [("1", "1"), ("2", "7"), ("1", "64")])
def test_any_process_and_concurrency_gives_the_same_episodes(
    gem_env: Run,
    tmp_path: Path,
    expected: dict[Key, str],
    fingerprints: Fingerprints,
    hash_seed: str,
    concurrency: str,
) -> None:
    options = ["--concurrency", concurrency, "--out", "run"]

    assert gem_env(*EVALUATION, *options, PYTHONHASHSEED=hash_seed).returncode == 0

    assert fingerprints(tmp_path / "run") == expected


def limited(
    variables: dict[str, str], folder: Path, size: int, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run `gem-env` where no file may grow beyond a size, as on a full disk."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(size), *arguments],
        cwd=folder,
        env={**variables, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_full_disk_stops_the_run_and_loses_nothing(
    variables: dict[str, str],
    gem_env: Run,
    tmp_path: Path,
    expected: dict[Key, str],
    fingerprints: Fingerprints,
) -> None:
    done = limited(variables, tmp_path, 100_000, *EVALUATION, QUIET, "--out", "run")

    kept = fingerprints(tmp_path / "run")
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert "File too large" in line
    assert f"{len(kept)} of {TOTAL} episodes are kept in run" in line
    assert line.endswith("gem-env eval --resume run")
    assert 0 < len(kept) < TOTAL
    assert gem_env("eval", "--resume", "run").returncode == 0
    assert fingerprints(tmp_path / "run") == expected
    assert kept.items() <= expected.items()


def test_a_disk_that_is_full_from_the_start_is_one_line_and_leaves_nothing(
    variables: dict[str, str], tmp_path: Path
) -> None:
    done = limited(variables, tmp_path, 100, *EVALUATION, "--out", "run")

    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert "run cannot be made" in line
    assert list(tmp_path.iterdir()) == []
