"""One error says what is wrong with a framework: absent, of another version, or changed."""

from __future__ import annotations

import importlib.metadata
import json
import re
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import gem_integrations
from gem.registry import pip_command
from gem_integrations import frameworks
from gem_integrations.frameworks import FRAMEWORKS, Framework, FrameworkError, drift, require

PAGES = Path(__file__).parents[2] / "docs" / "trainers"
RECORDS = Path(gem_integrations.__file__).parent / "recorded"
PYTEST = Framework("tool", "pytest", "pytest", ">=1", ("pytest>=8",))
EXTRAS = {
    each.name: [
        stated
        for stated in map(Requirement, importlib.metadata.requires("gem-integrations") or ())
        if stated.marker and f'extra == "{each.name}"' in str(stated.marker)
    ]
    for each in FRAMEWORKS.values()
}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that makes pytest the framework `tool`, with these signatures known."""

    def know(signatures: dict[str, list[str]], **changes: Any) -> None:
        monkeypatch.setitem(frameworks.FRAMEWORKS, "tool", PYTEST._replace(**changes))
        record = {"recorded_from": "8.0", "signatures": signatures}
        monkeypatch.setattr(frameworks, "recorded", lambda name: record)

    return know


@pytest.mark.parametrize("name", sorted(FRAMEWORKS))
def test_every_framework_has_a_record_of_what_its_adapter_calls(name: str) -> None:
    record = json.loads((RECORDS / f"{name}.json").read_text())

    assert record["recorded_from"]
    assert record["signatures"]


@pytest.mark.parametrize("name", sorted(FRAMEWORKS))
def test_an_absent_framework_is_one_error_with_the_command(name: str) -> None:
    if frameworks._installed_version(FRAMEWORKS[name]):
        pytest.skip(f"{name} is installed")
    with pytest.raises(FrameworkError, match="is not installed here") as caught:
        require(name)

    assert caught.value.command in str(caught.value)
    assert "Supported: " in str(caught.value)


@pytest.mark.parametrize("name", sorted(FRAMEWORKS))
def test_the_command_installs_what_the_extra_of_the_framework_brings(name: str) -> None:
    brought = {f"{each.name}{each.specifier}" for each in EXTRAS[name]}
    wanted = {
        f"{each.name}{each.specifier}" for each in map(Requirement, FRAMEWORKS[name].requirements)
    }

    assert wanted <= brought
    assert bool(wanted) != bool(FRAMEWORKS[name].repository)


def test_the_command_is_given_as_core_gives_that_of_any_extra(known: Any) -> None:
    asked = ("trl>=1.16,<1.17",)
    known({}, requirements=asked, versions="<1")

    with pytest.raises(FrameworkError) as caught:
        require("tool")

    # From a checkout: pip install ./gem-integrations[trl]
    assert caught.value.command == pip_command(asked, of="gem-integrations")


def test_a_framework_for_another_python_says_so(known: Any) -> None:
    known({}, distribution="no-such-distribution", python="<3")

    with pytest.raises(FrameworkError, match=r"It needs Python <3, and this is 3\..* Run: pip"):
        require("tool")


def test_a_version_outside_of_the_range_is_named_with_those_inside(known: Any) -> None:
    known({}, versions=">=1,<2")

    with pytest.raises(FrameworkError) as caught:
        require("tool")

    here = importlib.metadata.version("pytest")
    assert f"pytest is installed here as {here}" in str(caught.value)
    assert "Supported: >=1,<2. Run: pip install" in str(caught.value)


def test_what_is_as_it_was_recorded_is_accepted(known: Any) -> None:
    known({"json:loads": frameworks.signature("json:loads")})

    require("tool")


def test_a_changed_signature_is_told_from_a_missing_name(known: Any) -> None:
    known({"json:dumps": ["obj"], "json:nothing": [], "no_such_module:x": []})

    changed, missing, nowhere = drift("tool")

    assert changed.startswith("json:dumps takes obj * skipkeys= ")
    assert changed.endswith("and took obj")
    assert "json:nothing cannot be found (AttributeError" in missing
    assert "no_such_module:x cannot be found (ModuleNotFoundError" in nowhere
    with pytest.raises(FrameworkError, match="is not as this adapter knows it: json:dumps takes"):
        require("tool")


def test_a_framework_that_fails_as_it_is_imported_is_the_same_one_error(
    known: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "needs_more.py").write_text("raise RuntimeError('\\ntorch\\nis needed')")
    monkeypatch.syspath_prepend(tmp_path)
    known({f"needs_more:{name}": [] for name in "abcde"})

    with pytest.raises(FrameworkError) as caught:
        require("tool")

    assert "needs_more:a cannot be found (RuntimeError: torch is needed); " in str(caught.value)
    assert "needs_more:d" not in str(caught.value)
    assert "; and 2 more. Supported" in str(caught.value)


def test_a_checkout_is_known_by_its_commit(known: Any) -> None:
    known({}, versions="", module="no_such_module", repository="https://example.org/a/Tool")

    with pytest.raises(FrameworkError, match=r"Supported: the commit 8\.0") as caught:
        require("tool")

    assert caught.value.command == (
        "git clone https://example.org/a/Tool && git -C Tool checkout 8.0 && "
        "export PYTHONPATH=$PWD/Tool"
    )


@pytest.mark.parametrize(("name", "folder"), [("rl2", "RL2"), ("roll", "ROLL")])
def test_the_pages_check_out_the_commit_that_was_recorded(name: str, folder: str) -> None:
    pages = [PAGES / f"{name}.md", PAGES / "one-gpu.md"]
    texts = "".join(page.read_text(encoding="utf-8") for page in pages)

    [commit] = set(re.findall(rf"^git -C {folder} checkout (\w+)$", texts, re.MULTILINE))
    assert str(frameworks.recorded(name)["recorded_from"]).startswith(commit)


def test_a_signature_shows_what_may_be_left_out_and_what_needs_a_name() -> None:
    assert frameworks.signature("gem_integrations.episodes:one_row") == ["episode", "codec"]
    assert frameworks.signature("gem_integrations.episodes:play")[:6] == [
        "options",
        "engine",
        "codec",
        "*",
        "seed",
        "task=",
    ]
    assert frameworks.signature("contextlib:contextmanager") == ["func"]
    assert frameworks.signature("builtins:print")[0] == "*args"
