"""Ctrl-C is held back but where it is let through."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from gem_baselines.training.interrupts import HeldBack


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_it_is_raised_where_it_is_let_through_next() -> None:
    done: list[str] = []

    def work() -> None:
        with HeldBack() as interrupts:
            interrupt()
            done.append("what was begun")
            with interrupts.let_through():
                done.append("what came after")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["what was begun"]


def test_it_is_raised_at_once_inside() -> None:
    done: list[str] = []

    def work() -> None:
        with HeldBack() as interrupts, interrupts.let_through():
            interrupt()
            done.append("what came after")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == []


def test_it_is_raised_where_it_comes_just_before_it_is_let_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install = signal.signal
    done: list[str] = []

    def install_late(number: int, handler: Any) -> object:
        if handler is signal.default_int_handler:
            interrupt()
        return install(number, handler)

    def work() -> None:
        with HeldBack() as interrupts:
            monkeypatch.setattr(signal, "signal", install_late)
            with interrupts.let_through():
                done.append("what came after")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == []


def test_it_is_raised_also_where_an_error_comes_meanwhile() -> None:
    def work() -> None:
        with HeldBack():
            interrupt()
            raise OSError("the disk is full")

    with pytest.raises(KeyboardInterrupt) as raised:
        work()
    assert isinstance(raised.value.__cause__, OSError)


def test_it_is_raised_at_the_end_at_the_latest() -> None:
    done: list[str] = []

    def work() -> None:
        with HeldBack():
            interrupt()
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all of it"]


def test_a_program_that_ignores_it_goes_on() -> None:
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with HeldBack() as interrupts, interrupts.let_through():
            interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, previous)


def test_the_handler_of_the_program_is_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)

    with HeldBack() as interrupts, interrupts.let_through():
        pass

    assert signal.getsignal(signal.SIGINT) is before
