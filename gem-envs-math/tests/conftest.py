"""What the tests of this pack share: libraries and local data, where they are installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

CHECKOUT = Path(__file__).parents[2]


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


@pytest.fixture(scope="session")
def gsm8k() -> Path:
    """Return the folder of the local copy of GSM8K; skip where there is none."""
    folder = CHECKOUT.parent / "shared" / "data" / "gsm8k"
    if not folder.is_dir():
        pytest.skip("there is no local copy of GSM8K beside this checkout")
    return folder
