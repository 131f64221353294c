"""Targets and requirements: strings that become objects, or one clear error."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.errors import MissingRequirement, TargetError
from gem.registry import _importing
from gem.registry._importing import (
    check_requirements,
    forget_installed,
    load_target,
    target_of,
)


@pytest.fixture(autouse=True)
def _forget() -> None:
    forget_installed()
    load_target.cache_clear()


def module(folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


def test_a_target_is_a_module_and_a_path_in_it() -> None:
    assert load_target("json:loads") is json.loads
    assert load_target("json:JSONDecoder.decode") is json.JSONDecoder.decode
    assert load_target("json.decoder:JSONDecodeError") is json.JSONDecodeError


@pytest.mark.parametrize(
    ("target", "cause"),
    [
        ("no_such_module_here:A", "ModuleNotFoundError"),
        ("json:nothing", "AttributeError"),
        ("json:loads.nothing.more", "AttributeError"),
        ("json:", "AttributeError"),
        ("json", "AttributeError"),
        (":loads", "ValueError"),
        ("..json:loads", "TypeError"),
        ("json:<locals>", "AttributeError"),
    ],
)
def test_a_target_that_names_nothing_is_refused_with_its_cause(target: str, cause: str) -> None:
    with pytest.raises(TargetError, match=f"cannot be imported \\({cause}: ") as caught:
        load_target(target)
    assert caught.value.target == target
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("raise RuntimeError('two\\nlines')", "RuntimeError: two lines"),
        ("def broken(:", "SyntaxError"),
        (
            "class Mute(Exception):\n    def __str__(self): raise OSError\nraise Mute",
            "Mute: \\(its text cannot be shown\\)",
        ),
        ("raise BaseException('odd')", "BaseException: odd"),
    ],
)
def test_whatever_a_module_raises_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, cause: str
) -> None:
    name = module(tmp_path, "raises_at_import", body, monkeypatch)
    with pytest.raises(TargetError, match=cause) as caught:
        load_target(f"{name}:A")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit])
def test_an_interrupt_goes_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    name = module(tmp_path, "interrupted", f"raise {error.__name__}", monkeypatch)
    with pytest.raises(error):
        load_target(f"{name}:A")


def test_a_failure_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = module(tmp_path, "late_comer", "A = 1", monkeypatch)
    with pytest.raises(TargetError):
        load_target(f"{name}:B")
    load_target(f"{name}:A")
    sys.modules[name].B = 2  # type: ignore[attr-defined]
    assert load_target(f"{name}:B") == 2


@pytest.mark.parametrize(
    "requirement",
    [
        "pytest",
        "pytest>=1",
        "PyTest>=1,<1000",
        "pytest[dev]>=1",
        "no-such-package-here; python_version < '3'",
        "pytest; python_version >= '3'",
    ],
)
def test_what_is_installed_is_met(requirement: str) -> None:
    check_requirements([requirement], subject="demo:A")


@pytest.mark.parametrize(
    "requirement",
    [
        "no-such-package-here",
        "pytest>=1000",
        "pytest<1",
        "no-such-package-here; python_version >= '3'",
        "not a requirement!",
        "pytest>>1",
    ],
)
def test_what_is_not_met_comes_with_the_command(requirement: str) -> None:
    with pytest.raises(MissingRequirement) as caught:
        check_requirements(["pytest", requirement], subject="demo:A")
    assert caught.value.requirements == (requirement,)
    assert caught.value.command == f'pip install "{requirement}"'
    assert str(caught.value) == (
        f'demo:A needs {requirement}, not installed here. Run: pip install "{requirement}"'
    )


def test_all_that_is_missing_is_in_one_command() -> None:
    with pytest.raises(MissingRequirement) as caught:
        check_requirements(["absent-a>=1", "pytest", "absent-b"], subject="demo:A")
    assert caught.value.command == 'pip install "absent-a>=1" "absent-b"'


def test_no_requirements_are_met() -> None:
    check_requirements((), subject="demo:A")


def installed(folder: Path, name: str, metadata: str | None) -> None:
    about = folder / f"{name}.dist-info"
    about.mkdir()
    if metadata is not None:
        (about / "METADATA").write_text(metadata)


@pytest.mark.parametrize(
    "metadata", [None, "", "Name: damaged-pack\n", "Name: damaged-pack\nVersion: newest\n"]
)
def test_a_damaged_distribution_meets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metadata: Any
) -> None:
    installed(tmp_path, "damaged_pack-1", metadata)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(MissingRequirement):
        check_requirements(["damaged-pack>=0"], subject="demo:A")


def test_a_pre_release_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "early_pack-2.0rc1", "Name: early-pack\nVersion: 2.0rc1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    check_requirements(["early-pack>=1"], subject="demo:A")


def test_what_was_installed_meanwhile_is_found_after_forgetting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(MissingRequirement):
        check_requirements(["late-pack"], subject="demo:A")
    installed(tmp_path, "late_pack-1.0", "Name: late-pack\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))  # and let the finders look again
    forget_installed()
    check_requirements(["late-pack"], subject="demo:A")


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("asks_self:A", "from gem.registry import load_target; load_target('asks_self:A')"),
        (
            "./asks_file.py:A",
            "from gem import make; make('./asks_file.py:A')",
        ),
        ("names_self:A", "from gem.registry._blueprint import names; names('names_self:A', A)"),
        # A worker would import it too, where an id that it does not know is read as a target.
        ("has_workers:A", "from gem.hosting._processes import ProcessHost; ProcessHost(1)"),
    ],
)
def test_a_module_that_works_while_it_is_imported_is_told_of_the_main_guard(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch, target: str, line: str
) -> None:
    name = target.removeprefix("./").removesuffix(":A").removesuffix(".py")
    module(own_folder, name, f"class A: pass\n{line}\n", monkeypatch)
    with pytest.raises(TargetError, match=r"being imported\. Put what it runs under `if __name"):
        load_target(target)


def test_what_a_package_shows_is_named_by_the_package_and_not_by_its_private_module() -> None:
    assert target_of(gem.Mixture) == "gem:Mixture"
    assert load_target(target_of(gem.Mixture)) is gem.Mixture
    assert gem.register("named:Mixture", gem.Mixture).target == "gem:Mixture"


def test_what_no_package_shows_is_named_by_its_module() -> None:
    assert target_of(_importing._shown_by) == "gem.registry._importing:_shown_by"


def test_another_thing_by_the_same_name_is_not_what_a_package_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "shows_another"
    package.mkdir()
    (package / "__init__.py").write_text("__all__ = ['Word']\nWord = 'another'\n")
    (package / "_inner.py").write_text("class Word: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    inner = load_target("shows_another._inner:Word")

    assert target_of(inner) == "shows_another._inner:Word"
