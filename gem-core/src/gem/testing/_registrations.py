"""Forget what a test registered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gem.registry._registering import registrations, restore_registrations

__all__ = ["registrations_undone"]


@contextmanager
def registrations_undone() -> Iterator[None]:
    """Forget, at the end, every environment that is registered inside.

    As a fixture for all tests of a file:

        @pytest.fixture(autouse=True)
        def _nothing_stays_registered():
            with gem.testing.registrations_undone():
                yield
    """
    before = registrations()
    try:
        yield
    finally:
        restore_registrations(before)
