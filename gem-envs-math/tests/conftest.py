"""What the tests of this pack share: the data library, where installed, and data to feed it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# How fast a machine is decides no test.
settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any speed")

CHECKOUT = Path(__file__).parents[2]

WriteRows = Callable[..., str]


@pytest.fixture(scope="session")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """Return the library `datasets`, with a cache folder of its own; skip where it is absent."""
    library = pytest.importorskip("datasets", reason="the extra `data` is not installed")
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("datasets-cache")
        patch.setattr(library.config, "HF_DATASETS_CACHE", str(folder))
        yield library


@pytest.fixture(scope="session")
def math_verify() -> ModuleType:
    """Return the library `math_verify`; skip where it is absent."""
    library: ModuleType = pytest.importorskip(
        "math_verify", reason="the extra `verify` is not installed"
    )
    return library


@pytest.fixture
def write_rows(tmp_path: Path) -> WriteRows:
    """Return a function that writes rows as JSONL and returns the file's path."""

    def write(rows: Sequence[Mapping[str, Any]], name: str = "rows.jsonl") -> str:
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture(scope="session")
def gsm8k() -> Path:
    """Return the folder of the local copy of GSM8K; skip where there is none."""
    folder = CHECKOUT.parent / "shared" / "data" / "gsm8k"
    if not folder.is_dir():
        pytest.skip("there is no local copy of GSM8K beside this checkout")
    return folder
