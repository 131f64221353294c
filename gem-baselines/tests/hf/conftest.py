"""The tiny model that the tests of this folder play with."""

from __future__ import annotations

from pathlib import Path

import pytest

from .small import write_model


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("llama")
    write_model(folder)
    return folder
