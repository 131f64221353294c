"""What the tests of this pack share: the local copies of the published files."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def local_data() -> Path:
    """Return the folder with the local data sets; a test that needs it skips elsewhere."""
    for folder in Path(__file__).resolve().parents[2].parents:
        if (folder / "shared" / "data" / "tau_retail").is_dir():
            return folder / "shared" / "data"
    pytest.skip("the local data sets are not beside this checkout")
