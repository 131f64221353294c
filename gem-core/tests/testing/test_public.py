"""What a pack imports from core that is not public."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from gem.testing import PUBLIC_MODULES, private_imports


def found(folder: Path, source: str) -> list[str]:
    """The names that are not public in a pack of one module with this source."""
    (folder / "acme.py").write_text(source)
    return [use.removeprefix(f"{folder}/acme.py:") for use in private_imports(folder)]


@pytest.mark.parametrize(
    "source",
    [
        "import gem\nprint(gem.make, gem.errors.GemError, gem.__version__)",
        "import gem.testing",
        "from gem import Env, registry",
        "from gem.env import Env, Step",
        "from gem.parsing import *",
        "from gem_acme.env import Env",
        "from .making import make",
        "import gem_acme.making",
    ],
)
def test_what_is_public_is_not_listed(source: str, tmp_path: Path) -> None:
    assert found(tmp_path, source) == []


@pytest.mark.parametrize(
    ("source", "private"),
    [
        ("import gem.registry._making", "1: gem.registry._making"),
        ("import gem\ngem.making.make", "2: gem.making"),
        ("import gem.registry\ngem.registry._making.make", "2: gem.registry._making"),
        ("from gem import making", "1: gem.making"),
        ("from gem.registry._making import make", "1: gem.registry._making.make"),
        ("from gem.env import guards", "1: gem.env.guards"),
        ("from gem.parsing._cursor import Cursor", "1: gem.parsing._cursor.Cursor"),
        (
            "def later():\n    from gem.rollouts._recording import Recording",
            "2: gem.rollouts._recording.Recording",
        ),
        ("if TYPE_CHECKING:\n    from gem.env._step import Step", "2: gem.env._step.Step"),
    ],
)
def test_what_is_not_public_is_listed_with_its_line(
    source: str, private: str, tmp_path: Path
) -> None:
    assert found(tmp_path, source) == [private]


# What core alone cannot show: a distribution beside it holds the names, or one of them.
BEHIND = {
    "gem": "gem_data",
    "gem.data": "gem_data",
    "gem.returns": "gem_train",
    "gem.tokens": "gem_train",
}


@pytest.mark.vector
@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_every_name_of_a_public_module_is_there(module: str) -> None:
    if module in BEHIND:
        pytest.importorskip(BEHIND[module], reason=f"{BEHIND[module]} is not installed")
    public = importlib.import_module(module)

    assert len(public.__all__) == len(set(public.__all__))
    for name in public.__all__:
        assert hasattr(public, name)
