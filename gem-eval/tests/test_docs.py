"""What the README and the docstrings show is run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import gem_eval
from gem.testing import registrations_undone

README = Path(__file__).parents[1] / "README.md"
MODULES = [
    "gem_eval",
    *(found.name for found in pkgutil.walk_packages(gem_eval.__path__, "gem_eval.")),
]
OVER_TOKENS = {"gem_eval.policies.token_server": "TokenServer"}
"""What only the extra `tokens` makes importable: the module, and the public name."""
OVER_PAGES = {
    f"gem_eval.viewing.{name}"
    for name in ("app", "compare_page", "export", "guard", "pages", "rendering", "serving")
}
"""The modules that only the extra `view` makes importable."""


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_hold(module: str) -> None:
    if module in OVER_TOKENS:
        pytest.importorskip("gem_train", reason="gem-eval's extra `tokens` is not installed")

    if module in OVER_PAGES:
        pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
        pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")
        pytest.importorskip("uvicorn", reason="gem-eval's extra `view` is not installed")

    if module == "gem_eval.policies.sampling":
        pytest.importorskip("torch", reason="gem-eval's extra `local` is not installed")

    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_the_python_of_the_readme_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)

    with registrations_undone():
        for block in blocks:
            exec(compile(block, str(README), "exec"), {})  # noqa: S102 - our own page

    assert blocks


def test_every_public_name_is_there() -> None:
    names = set(gem_eval.__all__) - set(OVER_TOKENS.values())

    assert [name for name in names if not hasattr(gem_eval, name)] == []


def test_what_plays_by_tokens_is_there_with_its_extra() -> None:
    pytest.importorskip("gem_train", reason="gem-eval's extra `tokens` is not installed")

    assert all(hasattr(gem_eval, name) for name in OVER_TOKENS.values())


def test_a_name_that_is_not_public_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        gem_eval.nonsense  # noqa: B018 - reading it is the test
