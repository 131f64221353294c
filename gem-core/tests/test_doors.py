"""`gem.tokens` and `gem.returns` show what `gem-train` holds, and say where it is not installed."""

from __future__ import annotations

import importlib
import subprocess
import sys
from types import ModuleType

import pytest

from gem.errors import MissingRequirement

DOORS = ["gem.tokens", "gem.returns"]


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A door that nothing has been asked of yet."""
    monkeypatch.delitem(sys.modules, request.param, raising=False)
    module = importlib.import_module(request.param)
    monkeypatch.setitem(sys.modules, request.param, module)
    return module


def test_a_door_shows_what_the_distribution_behind_it_has(door: ModuleType) -> None:
    behind = pytest.importorskip("gem_train", reason="gem-train is not installed")

    for name in door.__all__:
        assert getattr(door, name) is getattr(behind, name)


def test_without_the_distribution_a_door_says_how_to_install_it(
    door: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gem_train", None)  # Python then finds no such package

    with pytest.raises(MissingRequirement, match=r"gem-train.* is not installed here\. Run: pip"):
        getattr(door, door.__all__[0])


def test_what_the_distribution_itself_lacks_is_said_by_python(
    door: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "gem_train", raising=False)

    class Without:
        """Finds the package, which then misses a package of its own."""

        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "gem_train":
                raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

    monkeypatch.setattr(sys, "meta_path", [Without, *sys.meta_path])

    with pytest.raises(ModuleNotFoundError, match="numpy"):
        getattr(door, door.__all__[0])


def test_a_door_has_no_other_name(door: ModuleType) -> None:
    with pytest.raises(
        AttributeError, match=f"module '{door.__name__}' has no attribute 'nothing'"
    ):
        _ = door.nothing


def test_a_door_lists_its_names_before_any_is_asked_for(door: ModuleType) -> None:
    assert {*door.__all__} <= {*dir(door)}


def test_a_door_itself_costs_nothing() -> None:
    code = (
        "import sys; import gem.tokens, gem.returns\n"
        "assert not {'gem_train', 'numpy', 'pydantic', 'gem.registry'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
