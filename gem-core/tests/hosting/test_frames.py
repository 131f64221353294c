"""Frames: whole messages over a stream of bytes, without ever waiting on the pool's side."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from gem.hosting._frames import Channel, read_frame, write_frame

Pair = tuple[Channel, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    mine, theirs = socket.socketpair()
    with mine, theirs:
        yield Channel(mine), theirs


def test_a_frame_arrives_as_it_was_sent(pair: Pair) -> None:
    channel, theirs = pair
    channel.send(b"one")

    with theirs.makefile("rb") as source:
        assert read_frame(source) == b"one"


def test_several_frames_come_in_together(pair: Pair) -> None:
    channel, theirs = pair
    write_frame(theirs, b"one")
    write_frame(theirs, b"")

    assert channel.receive() == [b"one", b""]
    assert not channel.is_over


def test_a_frame_is_given_out_once_it_is_whole(pair: Pair) -> None:
    channel, theirs = pair
    theirs.sendall(b"\x03\0\0\0\0\0\0\0on")
    before = channel.receive()
    theirs.sendall(b"e")

    assert (before, channel.receive()) == ([], [b"one"])


def test_what_does_not_fit_now_is_sent_later(pair: Pair) -> None:
    channel, theirs = pair
    frame = bytes(4 << 20)
    channel.send(frame)
    waited, read = channel.has_unsent, bytearray()

    while channel.has_unsent:
        read += theirs.recv(1 << 20)
        channel.flush()
    channel.finish()
    while piece := theirs.recv(1 << 20):
        read += piece

    assert waited
    assert read[8:] == frame


def test_a_closed_end_is_told_after_what_it_sent(pair: Pair) -> None:
    channel, theirs = pair
    write_frame(theirs, b"last")
    theirs.close()

    assert channel.receive() == [b"last"]
    assert channel.is_over


def test_what_is_sent_to_a_closed_end_is_dropped(pair: Pair) -> None:
    channel, theirs = pair
    theirs.close()
    channel.send(b"one")
    channel.finish()

    assert not channel.has_unsent


def test_an_end_that_was_reset_is_over(pair: Pair) -> None:
    channel, theirs = pair
    channel.send(b"never read")
    theirs.close()

    assert channel.receive() == []
    assert channel.is_over


@pytest.mark.parametrize("sent", [b"", b"\x03\0", b"\x03\0\0\0\0\0\0\0on"])
def test_half_a_frame_is_the_end(pair: Pair, sent: bytes) -> None:
    _, theirs = pair
    mine, other = socket.socketpair()
    with mine, other, mine.makefile("rb") as source:
        other.sendall(sent)
        other.shutdown(socket.SHUT_WR)

        assert read_frame(source) is None
    assert theirs.fileno() >= 0
