"""What is in the cache of `datasets` is told from its folders, without the library."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gem.registry._dataset_cache import is_cached
from gem.specs import DataSource


def put(cache: Path, folder: str) -> None:
    """Put a prepared data set where the library would."""
    prepared = cache / folder / "default" / "0.0.0" / "abc"
    prepared.mkdir(parents=True)
    (prepared / "rows-train.arrow").touch()


def test_a_prepared_data_set_is_found_where_the_variable_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "datasets", raising=False)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    put(tmp_path, "acme___word_rows")

    assert is_cached(DataSource(hub="acme/WordRows"))
    assert not is_cached(DataSource(hub="acme/WordRows", config="other"))
    assert not is_cached(DataSource(hub="acme/others"))


def test_a_loaded_library_says_itself_where_its_cache_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = SimpleNamespace(HF_DATASETS_CACHE=str(tmp_path / "loaded"))
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(config=config))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "changed since"))
    put(tmp_path / "loaded", "acme___rows")

    assert is_cached(DataSource(hub="acme/rows"))


def test_what_is_on_no_hub_is_in_no_cache() -> None:
    assert not is_cached(DataSource(homepage="https://example.com/rows"))
