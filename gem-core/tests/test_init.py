"""The public face: it costs nothing, and every name is there."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import gem


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.strip()


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = ("pydantic", "pluggy", "numpy", "asyncio", "importlib.metadata", "packaging", "json")
    program = f"import sys, gem; print(*sorted({set(heavy)!r} & set(sys.modules)))"
    assert run(program) == ""
    assert run("import sys, gem; print(*[m for m in sys.modules if m.startswith('gem.')])") == ""


def test_importing_the_package_installs_no_hook_and_loads_nothing_of_others() -> None:
    program = """
import sys
before = [*sys.meta_path], [*sys.path_hooks], {name.partition(".")[0] for name in sys.modules}
import gem
after = {name.partition(".")[0] for name in sys.modules}
assert ([*sys.meta_path], [*sys.path_hooks]) == before[:2]
print(*sorted(after - before[2] - sys.stdlib_module_names))
"""
    assert run(program) == "gem"


def test_making_an_environment_imports_neither_numpy_nor_datasets() -> None:
    program = """
import sys
import gem
gem.register("demo:Guess", "gem.testing.envs:Guess")
gem.make("demo:Guess", wrappers=["concat", {"id": "time_limit", "max_turns": 3}])
print(*sorted({"numpy", "datasets", "pyarrow"} & sys.modules.keys()))
"""
    assert run(program) == ""


@pytest.mark.vector
@pytest.mark.parametrize("name", gem.__all__)
def test_every_public_name_is_there(name: str) -> None:
    if name == "DatasetEnv":
        pytest.importorskip("gem_data", reason="gem-data is not installed")
    found = getattr(gem, name)
    assert getattr(gem, name) is found
    assert name in dir(gem)


def test_all_is_sorted_and_equals_what_is_lazy() -> None:
    assert gem.__all__ == sorted(gem.__all__)
    assert set(gem.__all__) == set(gem._HOME_OF)


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("AdapterSpec", "gem.specs"),
        ("Conversation", "gem.conversation"),
        ("ExecutorSpec", "gem.specs"),
        ("RolloutStats", "gem.rollouts"),
    ],
)
def test_what_few_ask_for_stands_in_its_own_module(name: str, home: str) -> None:
    assert name not in gem.__all__
    assert name in importlib.import_module(home).__all__


def test_type_checkers_see_what_is_there() -> None:
    tree = ast.parse(Path(gem.__file__).read_text())
    seen = {
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gem.")
        for alias in node.names
    }
    assert seen == {(home, name) for name, home in gem._HOME_OF.items()}


@pytest.mark.vector
def test_public_names_are_public_where_they_live() -> None:
    for name, home in gem._HOME_OF.items():
        assert name in importlib.import_module(home).__all__, (name, home)


def test_no_public_name_equals_a_module_s() -> None:
    folder = Path(gem.__file__).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert not modules & set(gem.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'gem' has no attribute 'nothing'"):
        gem.nothing  # noqa: B018


def test_the_version_is_the_installed_one() -> None:
    import importlib.metadata

    assert importlib.metadata.version("gem-core") == gem.__version__


def test_dir_needs_no_import() -> None:
    assert "make" in run("import gem; print(*dir(gem))").split()
    assert run("import sys, gem; dir(gem); print('pydantic' in sys.modules)") == "False"
