"""What is registered for these tests, and a list of calls that begins empty."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gem
from gem.testing import registrations_undone

from .ledger import Ledger, made


@pytest.fixture(autouse=True)
def _ledger() -> Iterator[None]:
    with registrations_undone():
        gem.register("demo:Ledger", Ledger)
        yield


@pytest.fixture(autouse=True)
def _nothing_made() -> None:
    made.clear()
