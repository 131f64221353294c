"""What tests share that meet the files beside the contracts, which lie in no package."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

CONTRACTS = Path(__file__).parents[1] / "contracts"
Load = Callable[[str], ModuleType]


@pytest.fixture(scope="session")
def load_beside_contracts() -> Load:
    """Return a function that imports one of these files by its name, as the contracts do."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, CONTRACTS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        loaded = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        return loaded

    return load


@pytest.fixture(scope="module")
def harness(load_beside_contracts: Load) -> ModuleType:
    """Return what every contract shares; skip where `transformers` is not installed."""
    pytest.importorskip("transformers")
    return load_beside_contracts("harness")
