"""What a pool knows of a worker that goes on while it is looked at."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from gem.hosting._heartbeat import NUMBER, SINCE, STOP, Heartbeat, new_heartbeat
from gem.hosting._messages import STEP
from gem.hosting._worker import Worker

FIRST, SECOND = (STEP, 0, "a"), (STEP, 1, "b")


@pytest.fixture
def worker() -> Iterator[Worker]:
    """Return one whose first command is overdue."""
    worker, descriptor = Worker(0), new_heartbeat()
    worker.heartbeat = Heartbeat(descriptor)
    os.close(descriptor)
    worker.is_absent = False
    worker.flight.extend([FIRST, SECOND])
    worker.heartbeat.cells[SINCE], worker.heartbeat.cells[NUMBER] = 1.0, 1
    assert worker.overdue_at(0.5) == 1.5
    yield worker
    worker.heartbeat.close()


def test_what_comes_after_the_overdue_command_is_not_stopped_for_it(worker: Worker) -> None:
    worker.heartbeat.cells[NUMBER] = 2

    assert worker.stop()
    assert worker.heartbeat.cells[STOP] == 1


def test_a_worker_is_given_up_for_the_command_that_it_would_not_stop(worker: Worker) -> None:
    assert worker.stop()
    assert not worker.stop()
    worker.is_late = True

    assert worker.take_flight() == ([FIRST, SECOND], FIRST)


def test_what_a_worker_did_after_it_gave_way_too_late_is_to_blame_for_nothing(
    worker: Worker,
) -> None:
    worker.stop()
    worker.is_late = True
    worker.next_command()
    worker.heartbeat.cells[NUMBER] = 2

    assert worker.take_flight() == ([SECOND], None)
