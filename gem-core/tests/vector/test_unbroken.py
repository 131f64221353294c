"""A block that an interrupt does not break."""

from __future__ import annotations

import signal
import threading

import pytest

from gem.vector._unbroken import Unbroken


def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    done = []

    def block() -> None:
        with Unbroken():
            signal.raise_signal(signal.SIGINT)
            done.append("whole")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert done == ["whole"]


def test_without_an_interrupt_the_handler_is_as_it_was() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Unbroken():
        pass

    assert signal.getsignal(signal.SIGINT) is before


def test_where_interrupts_are_ignored_they_stay_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Unbroken():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_on_another_thread_nothing_is_changed() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def look() -> None:
        with Unbroken():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()

    assert seen == [before]
