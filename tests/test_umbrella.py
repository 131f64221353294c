"""The distribution at the root installs all of ours from the checkout, and looks none up."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

for needed in ("hatchling", "editables"):
    pytest.importorskip(needed, reason="what builds the root is not installed")

ROOT = Path(__file__).parents[1]
OURS = {path.parent.name for path in ROOT.glob("*/pyproject.toml")}
Built = Callable[[str], zipfile.ZipFile]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Return a function that builds the root as pip does: `build_wheel` or `build_editable`."""

    def build(how: str) -> zipfile.ZipFile:
        folder = tmp_path_factory.mktemp(how)
        code = f"import sys; from hatchling import build; print(build.{how}(sys.argv[1]))"
        command = [sys.executable, "-c", code, str(folder)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return zipfile.ZipFile(folder / done.stdout.strip())

    return build


def text_of(wheel: zipfile.ZipFile, ending: str) -> str:
    [name] = [name for name in wheel.namelist() if name.endswith(ending)]
    return wheel.read(name).decode()


def needs(metadata: str) -> list[Requirement]:
    return [
        Requirement(line) for line in Parser().parsestr(metadata).get_all("Requires-Dist") or []
    ]


@pytest.fixture(scope="module")
def root(built: Built) -> list[Requirement]:
    return needs(text_of(built("build_wheel"), "METADATA"))


def extras_of(name: str) -> set[str]:
    text = (ROOT / name / "pyproject.toml").read_text(encoding="utf-8")
    block = text.partition("[project.optional-dependencies]\n")[2].partition("\n\n")[0]
    return set(re.findall(r"^(\w+) = ", block, re.MULTILINE))


def of_extra(requirements: list[Requirement], extra: str) -> list[Requirement]:
    return [each for each in requirements if f'extra == "{extra}"' in str(each.marker)]


def test_everything_that_it_names_is_a_folder_of_the_checkout(root: list[Requirement]) -> None:
    assert {each.name for each in root} == OURS
    assert {each.url for each in root} == {(ROOT / name).as_uri() for name in OURS}


def test_without_an_extra_it_is_all_of_ours(root: list[Requirement]) -> None:
    assert {each.name for each in root if each.marker is None} == OURS


def test_it_names_extras_that_are_there(root: list[Requirement]) -> None:
    assert [str(each) for each in root if not each.extras <= extras_of(each.name)] == []


def test_all_is_every_extra_but_frameworks_trackers_and_torch(
    root: list[Requirement],
) -> None:
    named = {name: set[str]() for name in OURS}
    for each in of_extra(root, "all"):
        named[each.name] |= each.extras

    left_out = {name: extras_of(name) - named[name] for name in OURS}

    frameworks = {"oat", "openrlhf", "rl2", "roll", "tinker", "trl", "verl"}
    of_eval = {"local", "mlflow", "trackio", "wandb"}
    expected = {name: set[str]() for name in OURS}
    expected |= {
        "gem-baselines": {"hf", "torch"},
        "gem-eval": of_eval,
        "gem-integrations": frameworks,
    }
    assert left_out == expected


def test_whatever_of_ours_another_needs_is_named_without_extras_in_each_place(
    root: list[Requirement],
) -> None:
    """Pip resolves `gem-tools` apart from `gem-tools[http]`, and would look the first one up."""
    needed = {
        requirement.name
        for name in OURS
        for line in (ROOT / name / "pyproject.toml").read_text(encoding="utf-8").splitlines()
        for text in re.findall(r'"(gem-[\w-]+>=[^"]+)"', line)
        for requirement in [Requirement(text)]
    }
    extras = {found for each in root for found in re.findall(r'extra == "(\w+)"', str(each.marker))}

    places = [[each for each in root if each.marker is None]]
    places += [of_extra(root, extra) for extra in extras]
    bare = [{each.name for each in place if not each.extras} for place in places]

    assert needed == {"gem-core", "gem-data", "gem-tools", "gem-train"}
    assert len(places) > 3
    assert [names for names in bare if not needed <= names] == []


def test_a_wheel_holds_no_code(built: Built) -> None:
    names = built("build_wheel").namelist()

    assert {name.partition("/")[0] for name in names} == {"gem_suite-0.1.0.dist-info"}


def test_an_editable_install_runs_the_checkout_before_any_copy(
    built: Built, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    (site / "gem_eval").mkdir(parents=True)
    (site / "gem_eval" / "__init__.py").write_text("raise AssertionError('the copy')\n")
    built("build_editable").extractall(site)
    code = (
        "import site, sys; site.addsitedir(sys.argv[1]); import gem_eval; print(gem_eval.__file__)"
    )
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    command = [sys.executable, "-S", "-c", code, str(site)]
    done = subprocess.run(command, env=clean, capture_output=True, text=True, check=True)

    assert Path(done.stdout.strip()) == ROOT / "gem-eval" / "src" / "gem_eval" / "__init__.py"
