"""Programs of one machine start their Rays one after another."""

from __future__ import annotations

import fcntl
import os

import pytest

from gem_integrations.ray.guard import alone_in_starting


@pytest.fixture(scope="package", autouse=True)
def _one_ray() -> None:
    """Start no Ray: the lock needs none."""


def test_a_program_that_starts_a_ray_keeps_others_from_it() -> None:
    other = os.open("/tmp", os.O_RDONLY)  # a lock belongs to who opened the folder
    try:
        with alone_in_starting(), pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(other)


def test_a_start_that_never_ends_keeps_others_for_a_while_only() -> None:
    with alone_in_starting(), alone_in_starting(patience_s=0.0):
        pass
