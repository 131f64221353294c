"""The public face: importing it costs nothing, and every name is there."""

from __future__ import annotations

import importlib
import importlib.metadata
import subprocess
import sys

import pytest

import gem_data


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = {"datasets", "numpy", "pyarrow", "pydantic"}
    program = f"import sys, gem_data; dir(gem_data); print(*{heavy!r} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("name", gem_data.__all__)
def test_every_public_name_is_there_and_public_where_it_lives(name: str) -> None:
    home = importlib.import_module(gem_data._HOME_OF[name])
    assert getattr(gem_data, name) is getattr(home, name)
    assert name in home.__all__
    assert name in dir(gem_data)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'gem_data' has no attribute 'nothing'"):
        gem_data.nothing  # noqa: B018


def test_the_version_is_the_installed_one() -> None:
    assert importlib.metadata.version("gem-data") == gem_data.__version__
