"""Who imports whom, read from the source of the whole tree and compared with its drawing.

An import inside a function counts like one at the top; one for type checkers alone does not.
"""

from __future__ import annotations

import ast
import functools
import graphlib
import importlib.metadata
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gem import registry
from gem.testing import PUBLIC_MODULES, private_imports
from gem_integrations.frameworks import FRAMEWORKS

ROOT = Path(__file__).parents[1]
CORE = ROOT / "gem-core" / "src" / "gem"
PACKAGES = {path.parents[1].name: path.name for path in ROOT.glob("*/src/*") if path.is_dir()}
VERSION = "gem.__version__"  # the one name that core takes from its own door
PARTS = {  # what comes with a dependency and is of no use without it, or is called otherwise
    "backports": "backports-asyncio-runner",
    "huggingface_hub": "datasets",
    "markupsafe": "jinja2",
    "mlflow": "mlflow-skinny",
    "pyarrow": "datasets",
    "pydantic_core": "pydantic",
    "typing_extensions": "pydantic",
}
BRINGS = {  # an adapter imports its framework, and what comes with that
    "rl2": {"omegaconf", "transformers"},
    "roll": {"numpy", "omegaconf", "tensordict", "torch"},
    "tinker": {"chz", "tinker", "transformers"},
    "trl": {"torch", "transformers"},
    "verl": {"omegaconf"},
}
DOORS = {  # the modules of core that show, on first use, what another distribution holds
    "gem.data": "gem_data",
    "gem.returns": "gem_train",
    "gem.tokens": "gem_train",
}
OTHERS = {folder: package for folder, package in PACKAGES.items() if package != "gem"}


class _Imports(ast.NodeVisitor):
    """Collect the absolute name of every module that running this source may import.

    A source names all of them whole; a test may name what it shares with its distribution's.
    """

    def __init__(self, *, is_test: bool) -> None:
        self.names: list[str] = []
        self._is_test = is_test

    def visit_If(self, node: ast.If) -> None:
        is_for_checkers = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for child in node.orelse if is_for_checkers else [*node.body, *node.orelse]:
            self.visit(child)

    def visit_Import(self, node: ast.Import) -> None:
        self.names += [alias.name for alias in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if self._is_test and node.level:
            return  # it stays among the tests: only a package of tests has levels
        assert not node.level, f"line {node.lineno}: a relative import"
        assert node.module
        self.names += [f"{node.module}.{alias.name}" for alias in node.names]


@functools.cache  # several tests ask, and to parse the tree takes seconds
def imports(path: Path) -> tuple[str, ...]:
    visitor = _Imports(is_test="tests" in path.relative_to(ROOT).parts)
    visitor.visit(ast.parse(path.read_text(encoding="utf-8")))
    return tuple(visitor.names)


def top_levels(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(path)}


def sources(folder: Path) -> Iterator[Path]:
    files = sorted(folder.rglob("*.py"))
    assert files, f"no source below {folder}"
    return iter(files)


@functools.cache
def declared(folder: str) -> set[str]:
    """The distributions that one declares, in its extras as well."""
    lines = importlib.metadata.requires(folder) or []
    return {canonicalize_name(Requirement(line).name) for line in lines}


@functools.cache
def foreign(folder: str) -> set[str]:
    """The packages of ours that a distribution may not name: all but core and what it declares."""
    known = {PACKAGES[folder], *(PACKAGES[name] for name in declared(folder) & {*PACKAGES})}
    return {*OTHERS.values()} - known


def behind_door(path: Path) -> set[str]:
    """The package that a module of core is the door of, for type checkers: none, or one."""
    return {package for door, package in DOORS.items() if core_modules().get(door) == path}


@functools.cache
def core_modules() -> dict[str, Path]:
    """Every module of core by name; a package's own name stands for its __init__.py."""
    found = {}
    for path in sources(CORE):
        parts = path.relative_to(CORE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def arrows() -> dict[str, set[str]]:
    """For each module of core, the modules of core that it imports."""
    modules = core_modules()
    return {
        module: {
            name if name in modules else name.rpartition(".")[0]
            for name in imports(path)
            if name.split(".")[0] == "gem" and name != VERSION
        }
        for module, path in modules.items()
    }


def room(module: str) -> str:
    """The part of a module's name that the drawing shows: `gem.cli._check` is in `cli`.

    The two doors, `gem` itself and `python -m gem`, are in no room.
    """
    part = f"{module}.".split(".")[1]
    return "" if part == "__main__" else part


def drawing() -> list[list[str]]:
    """The rooms of each layer, from the top, out of the fenced block marked `layers`."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```layers\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return [line.partition("|")[0].split() for line in block.splitlines()]


@pytest.mark.parametrize("folder", sorted(PACKAGES))
def test_a_distribution_imports_no_other_but_core_and_what_it_declares(folder: str) -> None:
    guilty = [
        str(path)
        for path in sources(ROOT / folder)
        if foreign(folder) & top_levels(path) - behind_door(path)
    ]

    assert guilty == []


@pytest.mark.parametrize("folder", sorted(PACKAGES))
def test_no_string_or_comment_names_another_distributions_package(folder: str) -> None:
    guilty = [
        f"{path}: {package}"
        for path in sources(ROOT / folder / "src")
        for package in foreign(folder) - behind_door(path)
        if re.search(rf"\b{package}\b", path.read_text(encoding="utf-8"))
    ]

    assert guilty == []


def test_every_error_is_put_into_one_line_by_one_function() -> None:
    # An error's own text may fail: an f-string then raises where a fault should cost one episode.
    by_hand = re.compile(r"__name__\}: \{error|failed: \{error!r")
    no_import = ROOT / "gem-tools/src/gem_tools/sandbox/inside"  # knows Python's own modules alone

    guilty = [
        str(path)
        for folder in PACKAGES
        for path in sources(ROOT / folder / "src")
        if by_hand.search(path.read_text(encoding="utf-8")) and no_import not in path.parents
    ]

    assert guilty == []


def test_what_has_no_underscore_in_its_path_is_public_and_nothing_else_is() -> None:
    older = CORE / "compat" / "gem_llm"  # import paths of the published gem-llm
    named = {
        module
        for module, path in core_modules().items()
        if not re.search(r"\._[a-z]", module) and not path.is_relative_to(older)
    }

    assert named - {"gem.__main__"} == {*PUBLIC_MODULES}


@pytest.mark.parametrize("folder", sorted(OTHERS))
def test_a_distribution_imports_from_core_only_what_is_public(folder: str) -> None:
    assert private_imports(ROOT / folder / "src") == []


def test_core_names_no_distribution_of_environments() -> None:
    packs = [folder for folder in OTHERS if folder.startswith("gem-envs-")]

    guilty = [
        f"{path}: {folder}"
        for path in sources(CORE)
        for folder in packs
        if folder in path.read_text(encoding="utf-8")
    ]

    assert packs
    assert guilty == []


def strings_of(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and text of every string but those that stand alone, as docstrings do."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str):
            yield node.lineno, node.value


def test_core_treats_no_namespace_of_a_pack_apart() -> None:
    manifests = [record.manifest for record in registry.plugins() if record.manifest]
    namespaces = {f"{found.namespace}:" for manifest in manifests for found in manifest.envs}
    assert "rg:" in namespaces
    pattern = re.compile(rf"(?<![\w.])({'|'.join(namespaces)})")

    # The help of commands shows ids as examples, and `compat` what replaces names of gem-llm.
    guilty = [
        f"{path}:{line}: {text!r:.60}"
        for path in sources(CORE)
        if not path.is_relative_to(CORE / "cli") and not path.is_relative_to(CORE / "compat")
        for line, text in strings_of(ast.parse(path.read_text(encoding="utf-8")))
        if pattern.search(text)
    ]

    assert guilty == []


def brought(path: Path) -> set[str]:
    """Return what the framework brings whose adapter this file is."""
    framework = FRAMEWORKS.get(path.stem) if path.parent.name == "gem_integrations" else None
    return {framework.module} | BRINGS.get(path.stem, set()) if framework else set()


def test_packs_never_declare_one_another() -> None:
    packs = {folder for folder in PACKAGES if folder.startswith("gem-envs-")}

    assert not any(declared(folder) & packs for folder in packs)


def names_of(module: str, providers: Mapping[str, list[str]]) -> set[str]:
    """The distributions that bring a module, by canonical names: wheels spell them otherwise."""
    return {*map(canonicalize_name, [PARTS.get(module, module), *providers.get(module, [])])}


@pytest.mark.parametrize("folder", sorted(PACKAGES))
def test_a_distribution_imports_only_what_it_declares(folder: str) -> None:
    providers = importlib.metadata.packages_distributions()
    known = {*sys.stdlib_module_names, *PACKAGES.values(), "tomllib"}  # from 3.11 on

    undeclared = {
        f"{path}: {name}"
        for path in sources(ROOT / folder / "src")
        for name in top_levels(path) - known - brought(path)
        if not declared(folder) & names_of(name, providers)
    }

    assert undeclared == set()


@pytest.mark.parametrize("folder", sorted(PACKAGES))
def test_a_manifest_imports_only_the_specs_and_the_standard_library(folder: str) -> None:
    source = ROOT / folder / "src"
    manifests = [*source.glob("*/plugin.py"), *source.glob("gem/registry/_core_plugin.py")]
    assert len(manifests) == ("gem.plugins.v1" in (ROOT / folder / "pyproject.toml").read_text())
    # Tables that a manifest may take in.
    listings = (*source.rglob("listing.py"), *source.rglob("listing/*.py"))

    third_party = {
        name
        for path in (*manifests, *listings)
        for name in imports(path)
        if name.split(".")[0] not in sys.stdlib_module_names
        and not name.startswith("gem.specs.")
        and not re.match(rf"{PACKAGES[folder]}\.(\w+\.)*listing\.", name)
    }

    assert third_party == set()


def test_inside_core_every_name_is_imported_from_its_home() -> None:
    through_the_door = {
        module: targets & {"gem"} for module, targets in arrows().items() if "gem" in targets
    }

    assert through_the_door == {}


def test_inside_core_no_imports_run_in_a_circle() -> None:
    order = tuple(graphlib.TopologicalSorter(arrows()).static_order())  # raises CycleError

    assert order.index("gem.specs") < order.index("gem.registry")


def test_the_drawing_shows_each_room_of_core_once() -> None:
    rooms = {room(module) for module in core_modules()} - {""}

    assert sorted(name for layer in drawing() for name in layer) == sorted(rooms)


def test_inside_core_imports_go_down_the_drawing() -> None:
    height = {name: -depth for depth, layer in enumerate(drawing()) for name in layer}

    upward = [
        f"{module} imports {target}"
        for module, targets in arrows().items()
        for target in targets
        if room(module) not in {"", room(target)} and height[room(module)] <= height[room(target)]
    ]

    assert upward == []


def test_core_uses_numpy_where_the_page_says() -> None:
    users = {room(module) for module, path in core_modules().items() if "numpy" in top_levels(path)}

    assert users == {"vector", "compat"}


def test_core_needs_three_distributions_and_no_numpy() -> None:
    lines = map(Requirement, importlib.metadata.requires("gem-core") or [])

    assert {line.name for line in lines if line.marker is None} == {
        "packaging",
        "pluggy",
        "pydantic",
    }


def test_every_distribution_says_which_systems_it_runs_on() -> None:
    for folder in PACKAGES:
        classifiers = importlib.metadata.metadata(folder).get_all("Classifier") or []
        assert "Operating System :: POSIX" in classifiers, folder
