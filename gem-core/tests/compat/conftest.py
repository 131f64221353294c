"""A pack with an environment of the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

HERE = __name__.rpartition(".")[0]


@pytest.fixture
def fake_pack(install: Callable[..., Path]) -> None:
    install("acme-compat", envs={"fake:Game": f"{HERE}.envs:Game"})
