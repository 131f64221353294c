"""The door of gem-data: the names are there, and without the distribution the pip command is."""

from __future__ import annotations

import sys

import pytest

import gem
import gem.data
from gem.errors import MissingRequirement


def test_the_door_shows_what_the_distribution_does() -> None:
    behind = pytest.importorskip("gem_data", reason="gem-data is not installed")

    assert gem.data.__all__ == behind.__all__
    assert gem.data.RowKind is behind.RowKind
    assert gem.DatasetEnv is behind.DatasetEnv
    assert set(gem.data.__all__) <= set(dir(gem.data))


def test_without_the_distribution_each_name_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "gem_data", None)  # as if it were not there
    monkeypatch.delitem(vars(gem.data), "load_table", raising=False)
    monkeypatch.delitem(vars(gem.data), "DatasetEnv", raising=False)
    monkeypatch.delitem(vars(gem), "DatasetEnv", raising=False)

    for name, door in (("load_table", gem.data), ("DatasetEnv", gem)):
        with pytest.raises(
            MissingRequirement, match=r"gem\.data was asked for.*/gem-data"
        ) as raised:
            getattr(door, name)
        assert raised.value.requirements == ("gem-data",)
        assert raised.value.command.startswith("pip install ")


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'gem\.data' has no attribute 'nothing'"):
        gem.data.nothing  # noqa: B018
