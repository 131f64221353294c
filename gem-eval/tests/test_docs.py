"""What the README and the docstrings show is run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import gem_eval
from gem.errors import MissingRequirement
from gem.testing import registrations_undone

README = Path(__file__).parents[1] / "README.md"
MODULES = [
    "gem_eval",
    *(found.name for found in pkgutil.walk_packages(gem_eval.__path__, "gem_eval.")),
]
OF_EXTRAS = {"jinja2", "starlette", "torch", "uvicorn"}
"""What modules import that are imported themselves only where an extra was asked for."""
OVER_TOKENS = ["TokenServer"]
"""The public names that only the extra `tokens` makes importable."""


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_hold(module: str) -> None:
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in OF_EXTRAS:
            raise
        pytest.skip(f"{error.name}, of an extra of gem-eval, is not installed")
    except MissingRequirement as error:
        if list(error.requirements) != ["gem-train"]:
            raise
        pytest.skip("gem-eval's extra `tokens` is not installed")

    assert doctest.testmod(imported).failed == 0


def test_the_python_of_the_readme_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)

    with registrations_undone():
        for block in blocks:
            exec(compile(block, str(README), "exec"), {})  # noqa: S102 - our own page

    assert blocks


def test_every_public_name_is_there() -> None:
    names = set(gem_eval.__all__) - set(OVER_TOKENS)

    assert [name for name in names if not hasattr(gem_eval, name)] == []


def test_what_plays_by_tokens_is_there_with_its_extra() -> None:
    pytest.importorskip("gem_train", reason="gem-eval's extra `tokens` is not installed")

    assert all(hasattr(gem_eval, name) for name in OVER_TOKENS)


def test_a_name_that_is_not_public_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        gem_eval.nonsense  # noqa: B018 - reading it is the test
