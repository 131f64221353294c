"""The check of an environment in another process: what comes of one that hangs or dies there."""

from __future__ import annotations

import os
import select
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from gem.testing._apart import ApartCheck, CheckRequest, NotMadeError, check_here
from gem.testing._report import CheckLine
from gem.testing._table import CHECKS

pytestmark = pytest.mark.slow

TROUBLED = """
import faulthandler, os, signal, subprocess, threading, time
import gem
from gem.testing.envs import Echo

class InThread(Echo):
    def reset(self, seed=None):
        worker = threading.Thread(target=self.work)
        worker.start()
        worker.join()

    def work(self):
        while True:
            pass

class Starts(Echo):
    def __init__(self, pipe: str):
        subprocess.Popen(["sleep", "1000"], stdout=open(pipe, "w"))
        os._exit(0)

class Exits(Echo):
    def step(self, action):
        os._exit(3)

class IsKilled(Echo):
    def step(self, action):
        os.kill(os.getpid(), signal.SIGKILL)

class StaysOpen(Echo):
    def reset(self, seed=None):
        faulthandler.cancel_dump_traceback_later()
        time.sleep(1e6)

class LacksData(Echo):
    def reset(self, seed=None):
        raise gem.errors.DataError("There is no table.", source="table")

class WantsData(Echo):
    def __init__(self, source: dict):
        raise gem.errors.DataError("It is not in the cache.", source="hub")

class Interrupted(Echo):
    def reset(self, seed=None):
        raise KeyboardInterrupt

class Unmade(Echo):
    def __init__(self):
        raise RuntimeError("no hands")

class Prints(Echo):
    def reset(self, seed=None):
        print("here I am")
        return super().reset(seed)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    # By a name of its own: some of these are imported here, where other tests have a `troubled`.
    (tmp_path / "gem_apart.py").write_text(TROUBLED)
    return tmp_path


def asked(env_id: str, wrappers: Iterable[Any] = (), **kwargs: object) -> CheckRequest:
    return CheckRequest(env_id, kwargs, tuple(wrappers), ["sync"])


def lines(request: CheckRequest, timeout_s: float = 100.0) -> list[CheckLine]:
    with ApartCheck(request, timeout_s=timeout_s) as check:
        return list(check.lines())


def test_every_line_of_a_check_comes_in_order() -> None:
    found = lines(asked("gem.testing.envs:Echo"))

    assert [line.name for line in found] == [check.name for check in CHECKS]
    assert "failed" not in {line.state for line in found}


def test_a_line_comes_before_the_next_is_begun() -> None:
    with ApartCheck(asked("gem.testing.envs:Echo"), timeout_s=100.0) as check:
        first = next(check.lines())

        assert (first.name, check.running) == ("same_seed", first.claim)


def test_an_environment_that_hangs_in_a_thread_of_its_own_is_found_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gem.testing._apart._GRACE_S", 60.0)  # its process may be slow to start
    [line] = lines(asked(f"{folder}/gem_apart.py:InThread"), timeout_s=3.0)

    assert (line.name, line.state) == ("made", "failed")
    assert "it had not ended after 3 s (gem_apart.py, line " in line.evidence
    assert "in work)" in line.evidence


def test_an_environment_that_disarms_the_watchdog_is_ended_all_the_same(folder: Path) -> None:
    [line] = lines(asked(f"{folder}/gem_apart.py:StaysOpen"), timeout_s=1.0)

    assert line.evidence.startswith("it had not ended after 1 s; --timeout")


def test_what_the_process_has_started_ends_with_it(folder: Path) -> None:
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    lines(asked(f"{folder}/gem_apart.py:Starts", pipe=str(pipe)))

    # A pipe is at its end when nobody is left who has it open to write.
    at_end, _, _ = select.select([reader], [], [], 60)
    os.close(reader)
    assert at_end == [reader]


@pytest.mark.parametrize(
    ("name", "ending"),
    [("Exits", "its process ended with status 3"), ("IsKilled", "was ended by SIGKILL")],
)
def test_an_environment_that_ends_its_process_fails_the_line(
    name: str, ending: str, folder: Path
) -> None:
    [line] = lines(asked(f"{folder}/gem_apart.py:{name}"))

    assert (line.name, line.state, ending in line.evidence) == ("same_seed", "failed", True), line
    assert line.evidence.endswith("The checks after it were not run")


@pytest.mark.parametrize(
    ("name", "kwargs", "wrappers", "state"),
    [
        ("LacksData", {}, (), "failed"),
        ("WantsData", {"source": {"hub": "acme/absent"}}, (), "skipped"),
        ("Prints", {"loud": True}, (), "failed"),
        ("Prints", {}, ({"id": "time_limit", "turns": 3},), None),
        ("Prints", {}, ("no_such_wrapper",), None),
    ],
)
def test_one_that_cannot_be_made_raises_and_says_what_a_line_would_be(
    name: str, kwargs: dict[str, Any], wrappers: tuple[Any, ...], state: str | None, folder: Path
) -> None:
    request = asked(f"{folder}/gem_apart.py:{name}", wrappers, **kwargs)

    with pytest.raises(NotMadeError) as caught:
        lines(request)

    assert caught.value.state == state


class Replies:
    """What the other process would send, kept; it hangs up before the reply of this number."""

    def __init__(self, hangs_up_at: int = 1000) -> None:
        self.sent: list[Any] = []
        self._hangs_up_at = hangs_up_at

    def send(self, reply: Any) -> None:
        if len(self.sent) == self._hangs_up_at:
            raise BrokenPipeError
        self.sent.append(reply)


def sent(request: CheckRequest, folder: Path, **options: int) -> list[Any]:
    """Return what the other process sends for a request; here it is this one."""
    replies: Any = Replies(**options)
    check_here(request, replies, folder / "threads", 1000.0)
    return list(replies.sent)


def test_each_check_is_said_to_begin_before_its_line(folder: Path) -> None:
    made, *messages, _ = sent(asked("gem.testing.envs:Echo"), folder)

    assert made.name == "made"
    assert [message.name for message in messages[::2]] == [check.name for check in CHECKS]
    assert [line.name for line in messages[1::2]] == [check.name for check in CHECKS]


def test_what_an_environment_prints_is_no_part_of_standard_output(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sent(asked(f"{folder}/gem_apart.py:Prints"), folder)

    printed = capsys.readouterr()
    assert (printed.out, "here I am" in printed.err) == ("", True)


def test_one_that_raises_while_it_is_made_has_one_line(folder: Path) -> None:
    _, line, _ = sent(asked(f"{folder}/gem_apart.py:Unmade"), folder)

    assert (line.name, line.state) == ("made", "failed")
    assert "RuntimeError: no hands (gem_apart.py, line " in line.evidence


@pytest.mark.parametrize(
    ("name", "text", "state"),
    [
        ("LacksData", "There is no table.", "failed"),
        ("WantsData", "not in the cache", "skipped"),
        ("Absent", "has no such name", "failed"),
    ],
)
def test_one_that_is_refused_has_no_line(name: str, text: str, state: str, folder: Path) -> None:
    kwargs = {"source": {"hub": "acme/absent"}} if name == "WantsData" else {}
    _, refused = sent(asked(f"{folder}/gem_apart.py:{name}", **kwargs), folder)

    assert (text in refused.text, refused.state) == (True, state)


def test_the_process_ends_quietly_where_nobody_listens_any_more(folder: Path) -> None:
    with pytest.raises(SystemExit):
        sent(asked("gem.testing.envs:Echo"), folder, hangs_up_at=2)


def test_the_process_ends_quietly_where_it_is_interrupted(folder: Path) -> None:
    with pytest.raises(SystemExit):
        sent(asked(f"{folder}/gem_apart.py:Interrupted"), folder)
