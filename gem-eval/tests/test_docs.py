"""What the README and the docstrings show is run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import gem_eval
from gem import registry

README = Path(__file__).parents[1] / "README.md"
MODULES = [
    "gem_eval",
    *(found.name for found in pkgutil.walk_packages(gem_eval.__path__, "gem_eval.")),
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_hold(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_the_python_of_the_readme_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_local", {})  # what the page registers stays in this test
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)

    for block in blocks:
        exec(compile(block, str(README), "exec"), {})  # noqa: S102 - our own page

    assert blocks


def test_every_public_name_is_there() -> None:
    assert [name for name in gem_eval.__all__ if not hasattr(gem_eval, name)] == []


def test_a_name_that_is_not_public_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        gem_eval.nonsense  # noqa: B018 - reading it is the test
