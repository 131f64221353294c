"""The loop of a worker, run here on a thread: commands in, answers out, in order."""

from __future__ import annotations

import os
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from gem.hosting import Failure
from gem.hosting._frames import read_frame, write_frame
from gem.hosting._heartbeat import NUMBER, REVIVING, STOP, STOP_ALL, Heartbeat, new_heartbeat
from gem.hosting._messages import (
    DONE,
    FOREIGN,
    RESET,
    REVIVE,
    STEP,
    Answer,
    Command,
    loads,
    pack_plain,
)
from gem.hosting._recipes import Recipe
from gem.hosting._serving import CommandServer, Interrupted, limit_memory


class Session:
    """A server on a thread, and the pool's end of its socket."""

    def __init__(self, most_bytes: int | None = 1 << 16) -> None:
        self._mine, self._theirs = socket.socketpair()
        self._source = self._mine.makefile("rb")
        descriptor = new_heartbeat()
        self.heartbeat = Heartbeat(descriptor)
        os.close(descriptor)
        self.server = CommandServer(self._theirs, self.heartbeat)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        if most_bytes is not None:
            self.say((most_bytes, None))

    def _run(self) -> None:
        with self._theirs, self.server._source, suppress(SystemExit, BrokenPipeError):
            self.server.run()

    def say(self, message: Any) -> None:
        """Send a message."""
        write_frame(self._mine, pack_plain(message) or b"")

    def hear(self) -> Any:
        """Receive a message; None at the end."""
        frame = read_frame(self._source)
        return None if frame is None else loads(frame)

    def do(self, *commands: Command) -> list[Answer]:
        """Have commands done and return their answers."""
        self.say((list(commands),))
        answers: list[Answer] = []
        while len(answers) < len(commands):
            answers += self.hear()[1]
        return answers

    def start(self, *slots: int, name: str = "Walk") -> None:
        """Reset slots."""
        recipe = tuple(Recipe(f"trouble:{name}").as_data())
        self.do(*((RESET, slot, 7, {}, 0, recipe) for slot in slots))

    def finish(self) -> Any:
        """Say that nothing more comes, and return the last message."""
        self._mine.shutdown(socket.SHUT_WR)
        last = self.hear()
        self._thread.join()
        return last

    def close(self) -> None:
        """Let go of everything."""
        self._source.close()
        self._mine.close()
        self._thread.join()
        self.heartbeat.close()


def status_of(answer: Answer) -> int:
    """Return the status of an answer.

    One that shares its message with what cannot be carried travels packed. Which ones share a
    message depends on how long they took.
    """
    status: int = loads(answer[1])[0] if answer[0] == FOREIGN else answer[0]
    return status


@pytest.fixture
def session() -> Iterator[Session]:
    session = Session()
    yield session
    session.close()


def test_a_batch_is_answered_in_its_order(session: Session) -> None:
    session.start(0, 1)

    first, second = session.do((STEP, 1, "a"), (STEP, 0, "b"))

    assert (first[1][0][:4], second[1][0][:4]) == ("0: a", "0: b")
    assert session.heartbeat.cells[NUMBER] == 0


def test_slow_answers_do_not_wait_for_the_whole_batch(session: Session) -> None:
    session.start(0, 1, name="Slow")
    session.say(([(STEP, 0, "a"), (STEP, 1, "b"), (STEP, 0, "c")],))

    sizes = [len(session.hear()[1]) for _ in range(3)]

    assert sizes == [1, 1, 1]


def test_the_end_closes_the_environments_and_tells_of_it(
    session: Session, placed: Callable[[str, str], str]
) -> None:
    session.start(0)
    session.start(1, name="BadCloser")

    assert session.finish() == (None, [placed("RuntimeError: out of order", "do_harm")])
    assert session.hear() is None


def test_an_end_before_the_beginning_is_silent() -> None:
    session = Session(None)

    assert session.finish() is None
    session.close()


@pytest.mark.parametrize("harm", ["lambda", "large"])
def test_what_cannot_be_carried_costs_its_own_episode(session: Session, harm: str) -> None:
    session.start(0, 1, 2)

    before, failed, after = session.do((STEP, 0, "a"), (STEP, 1, harm), (STEP, 2, "a"))

    assert failed[1].reason == "env_error"
    assert [status_of(each) for each in (before, after)] == [DONE, DONE]
    assert session.do((STEP, 1, "a")) == [failed]


def test_foreign_objects_travel_apart(session: Session) -> None:
    session.start(0)

    ((status, packed),) = session.do((STEP, 0, "foreign"))

    assert status == FOREIGN
    assert loads(packed)[1][4]["f"] == 1j


def test_want_of_memory_is_told_and_ends_the_worker(session: Session) -> None:
    recipe = tuple(Recipe("trouble:NoMemory").as_data())

    answers = session.do((RESET, 0, 7, {}, 0, recipe))

    assert answers == [(DONE, Failure("worker_lost", "MemoryError: no more"))]
    assert session.hear() is None


def test_want_of_memory_for_the_answer_ends_the_worker_in_silence(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.start(0)
    monkeypatch.setattr("gem.hosting._serving.pack_plain", lambda message: None)

    session.say(([(STEP, 0, "a")],))

    assert session.hear() is None


def test_the_rest_of_a_slow_batch_is_left_when_all_is_to_stop(session: Session) -> None:
    session.start(0, name="Slow")
    session.heartbeat.cells[STOP] = STOP_ALL
    session.say(([(STEP, 0, "a")] * 9,))

    assert len(session.hear()[1]) == 1
    assert session.finish() == (None, [])


# interrupts: the handler is called by the step itself, where a signal would call it


class Late:
    """Pretend to be the signal that comes while a step runs."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def __call__(self, harm: str) -> None:
        if harm == "late":
            self.session.heartbeat.cells[STOP] = self.session.heartbeat.cells[NUMBER]
        if harm in ("late", "stray"):
            self.session.server.interrupt()


@pytest.fixture
def late(session: Session, monkeypatch: pytest.MonkeyPatch) -> Session:
    import troubled  # type: ignore[import-not-found]  # by the path that the fixture adds

    monkeypatch.setattr(troubled, "do_harm", Late(session))
    return session


def test_a_step_that_is_stopped_costs_its_own_episode(late: Session) -> None:
    late.start(0, 1, 2)

    before, stopped, after = late.do((STEP, 0, "a"), (STEP, 1, "late"), (STEP, 2, "a"))

    assert stopped == (DONE, Failure("step_timeout", ""))
    assert (before[0], after[0]) == (DONE, DONE)
    assert late.do((STEP, 1, "a")) == [stopped]


def test_a_signal_that_comes_too_late_does_nothing(late: Session) -> None:
    late.start(0)

    assert late.do((STEP, 0, "stray"))[0][0] == DONE


def test_an_episode_that_is_stopped_while_it_is_restored_is_lost(late: Session) -> None:
    recipe = tuple(Recipe("trouble:Walk").as_data())
    so_far: tuple[Any, ...] = ((7, {}, 0), None, ["late"], None)

    (stopped,) = late.do((REVIVE, 0, recipe, so_far, (STEP, 0, "a")))

    assert stopped == (DONE, Failure("worker_lost", ""))
    assert late.heartbeat.cells[REVIVING] == 0


def test_interrupts_are_no_exceptions_that_an_environment_catches() -> None:
    assert not issubclass(Interrupted, Exception)


def test_a_limit_of_memory_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Any] = []
    monkeypatch.setattr(resource, "setrlimit", lambda *each: limits.append(each))
    limit_memory(None)
    limit_memory(1 << 40)

    assert limits == [(resource.RLIMIT_AS, (1 << 40, resource.getrlimit(resource.RLIMIT_AS)[1]))]
