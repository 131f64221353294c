"""What is registered for these tests."""

from __future__ import annotations

import pytest

import gem

from .envs import SLOW, Slow


@pytest.fixture(autouse=True)
def _slow() -> None:
    gem.register(SLOW, Slow)
