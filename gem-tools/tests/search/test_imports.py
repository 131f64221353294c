"""What importing search costs, and what is said where an engine is not installed."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gem_tools.search
from gem.errors import MissingRequirement
from gem.registry._importing import forget_installed

HEAVY = {"asyncio", "bm25s", "httpx", "numpy", "pydantic", "starlette", "tantivy", "uvicorn"}


def test_importing_search_imports_nothing_heavy() -> None:
    code = f"import gem_tools.search, sys; print({HEAVY!r} & {{*sys.modules}})"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout == "set()\n"


def test_setting_the_command_line_up_loads_no_engine_and_no_server() -> None:
    heavy = HEAVY - {"asyncio", "numpy", "pydantic"}
    code = f"import gem_tools.search.hooks, sys; print({heavy!r} & {{*sys.modules}})"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout == "set()\n"


def test_every_public_name_is_there() -> None:
    for name in gem_tools.search.__all__:
        assert getattr(gem_tools.search, name).__name__ == name


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        gem_tools.search.nothing  # noqa: B018


@pytest.fixture
def _nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def absent(name: str) -> object:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", absent)
    forget_installed()
    yield
    forget_installed()


@pytest.mark.usefixtures("_nothing_is_installed")
@pytest.mark.parametrize("engine", ["tantivy", "bm25s"])
def test_an_engine_that_is_not_installed_is_named_with_its_command(
    engine: Any, tmp_path: Path
) -> None:
    with pytest.raises(MissingRequirement, match=f'pip install "{engine}'):
        gem_tools.search.build_index([{"text": "x"}], tmp_path / "index", engine=engine)

    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("_nothing_is_installed")
def test_a_client_without_httpx_says_so() -> None:
    with pytest.raises(MissingRequirement, match=r'pip install "aiohttp.* "httpx'):
        gem_tools.search.RetrieveClient("http://127.0.0.1:8000")
