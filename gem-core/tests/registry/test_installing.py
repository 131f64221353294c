"""What is missing comes with the command that installs it, and no name of ours goes to an index."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gem import registry
from gem.cli._main import main
from gem.errors import BadArguments, MissingRequirement, UnknownEnv, UnknownWrapper
from gem.registry import executor_spec, spec, wrapper_spec
from gem.registry._importing import check_requirements
from gem.registry._installing import absent_providers, forget_sources, pip_command


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    forget_sources()
    yield
    forget_sources()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout with the folders of two distributions."""
    folder = tmp_path / "the checkout"
    for name in ("gem-core", "acme-words"):
        (folder / name).mkdir(parents=True)
        (folder / name / "pyproject.toml").touch()
    return folder


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that comes first on the path."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def install(site: Path, name: str, *, origin: Any = None, requires: tuple[str, ...] = ()) -> None:
    """Leave the metadata of a distribution, as pip does; `origin` is its direct_url.json."""
    about = site / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir()
    lines = [f"Requires-Dist: {each}\n" for each in requires]
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    (about / "METADATA").write_text(head + "".join(lines))
    if origin is not None:
        text = origin if isinstance(origin, str) else json.dumps(origin)
        (about / "direct_url.json").write_text(text)
    importlib.invalidate_caches()
    forget_sources()


def from_folder(folder: Path, *, editable: bool = False) -> dict[str, Any]:
    return {"url": folder.as_uri(), "dir_info": {"editable": editable} if editable else {}}


EXTRAS = (
    "rich>=13",
    "no requirement at all!",
    'absent-chess==1; extra == "board"',
    'absent-dice>=2; extra == "board"',
    'Absent_Hub>=3; extra == "data"',
)


def test_a_requirement_of_an_extra_is_installed_by_the_extra(checkout: Path, site: Path) -> None:
    install(site, "acme-words", origin=from_folder(checkout / "acme-words"), requires=EXTRAS)
    wanted = ["absent-chess==1", "absent-dice>=2", "absent-hub>=3"]
    assert pip_command(wanted, of="acme-words") == (
        f"pip install '{checkout}/acme-words[board,data]'"
    )


def test_what_is_editable_stays_editable(checkout: Path, site: Path) -> None:
    origin = from_folder(checkout / "acme-words", editable=True)
    install(site, "acme-words", origin=origin, requires=EXTRAS)
    command = pip_command(["absent-hub>=3"], of="acme-words")
    assert command == f"pip install -e '{checkout}/acme-words[data]'"


def test_a_requirement_of_no_extra_is_named_itself(checkout: Path, site: Path) -> None:
    install(site, "acme-words", origin=from_folder(checkout / "acme-words"), requires=EXTRAS)
    command = pip_command(["absent-other", "absent-dice"], of="acme-words")
    assert command == f"pip install \"absent-other\" '{checkout}/acme-words[board]'"


def test_of_extras_that_bring_a_requirement_the_one_that_brings_least_is_named(
    checkout: Path, site: Path
) -> None:
    stated = (
        'absent-tensors>=2; extra == "models"',
        'absent-models>=4; extra == "models"',
        'absent-tensors>=2; extra == "tensors"',
    )
    install(site, "acme-words", origin=from_folder(checkout / "acme-words"), requires=stated)

    tensors = pip_command(["absent-tensors>=2"], of="acme-words")
    assert tensors == f"pip install '{checkout}/acme-words[tensors]'"
    both = pip_command(["absent-tensors>=2", "absent-models>=4"], of="acme-words")
    assert both == f"pip install '{checkout}/acme-words[models]'"


def test_an_extra_that_names_one_of_ours_brings_what_that_does(checkout: Path, site: Path) -> None:
    stated = ('gem-tools[search]>=0.1; extra == "look"', 'gem-tools[http]>=0.1; extra == "ask"')
    install(site, "gem-tools", requires=('absent-index>=3; extra == "search"',))
    install(site, "acme-words", origin=from_folder(checkout / "acme-words"), requires=stated)

    assert pip_command(["absent-index>=3"], of="acme-words") == (
        f"pip install '{checkout}/acme-words[look]'"
    )
    assert pip_command(["absent-hub>=3"], of="acme-words") == 'pip install "absent-hub>=3"'


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "",
        "no json",
        "[]",
        {},
        {"url": 5, "dir_info": {}},
        {"url": "file:///nowhere/acme-words", "dir_info": {}},
        {"url": "file:///nowhere/acme_words-1.0-py3-none-any.whl", "archive_info": {}},
    ],
)
def test_where_there_is_no_folder_the_requirement_is_named(site: Path, origin: Any) -> None:
    install(site, "acme-words", origin=origin, requires=EXTRAS)
    assert pip_command(["absent-hub>=3"], of="acme-words") == 'pip install "absent-hub>=3"'
    assert pip_command(["absent-hub>=3"], of="acme-nowhere") == 'pip install "absent-hub>=3"'


def test_one_of_ours_is_the_folder_beside_cores(checkout: Path, site: Path) -> None:
    install(site, "gem-core", origin=from_folder(checkout / "gem-core"))
    command = pip_command(["gem-tools[search]>=0.1,<0.2"], of="acme-words")
    assert command == f"pip install '{checkout}/gem-tools[search]'"


def test_one_of_ours_is_a_folder_of_the_checkout_where_cores_is_not_known(site: Path) -> None:
    install(site, "gem-core")
    assert pip_command(["gem-tools>=0.1,<0.2"]) == "pip install ./gem-tools"


def test_what_is_no_requirement_is_shown_as_it_is() -> None:
    assert pip_command(["not a requirement!"]) == 'pip install "not a requirement!"'


def test_a_missing_requirement_carries_the_command(checkout: Path, site: Path) -> None:
    install(site, "acme-words", origin=from_folder(checkout / "acme-words"), requires=EXTRAS)
    with pytest.raises(MissingRequirement) as caught:
        check_requirements(["absent-hub>=3"], subject="acme:A", of="acme-words")
    assert caught.value.command == f"pip install '{checkout}/acme-words[data]'"


# who provides what is not installed


@pytest.fixture
def _only_core(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hide every distribution of ours but core, and forget where core is from."""
    real = importlib.metadata.distribution
    real_all = importlib.metadata.distributions

    def is_hidden(name: str) -> bool:
        return name.startswith("gem-") and name != "gem-core"

    def one(name: str) -> importlib.metadata.Distribution:
        if is_hidden(name):
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    def every() -> list[importlib.metadata.Distribution]:
        return [each for each in real_all() if not is_hidden(each.metadata["Name"])]

    monkeypatch.setattr(importlib.metadata, "distribution", one)
    monkeypatch.setattr(importlib.metadata, "distributions", every)
    registry.refresh()
    yield
    monkeypatch.undo()
    registry.refresh()


@pytest.mark.usefixtures("_only_core")
def test_an_id_of_a_pack_that_is_absent_names_the_pack_and_the_command() -> None:
    with pytest.raises(UnknownEnv, match=r"gem-envs-\w+ provides rg: and is not installed") as bad:
        spec("rg:chain_sum")
    assert bad.value.suggestions == ()
    assert "gem-envs-reasoning[tasks]" in str(bad.value)


@pytest.mark.usefixtures("_only_core")
def test_every_pack_of_a_namespace_is_named() -> None:
    names = [each.distribution for each in absent_providers("envs", "eval")]
    assert len(names) == 3


@pytest.mark.usefixtures("_only_core")
def test_a_wrapper_and_a_backend_of_an_absent_distribution_name_it() -> None:
    with pytest.raises(UnknownWrapper, match="gem-tools provides python_tool"):
        wrapper_spec("python_tool")
    with pytest.raises(BadArguments, match="gem-integrations provides ray"):
        executor_spec("ray")


@pytest.mark.usefixtures("_only_core")
def test_a_command_of_an_absent_distribution_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "game:Wordle-v0"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "gem-eval provides it and is not installed: `pip install " in line


@pytest.mark.usefixtures("_only_core")
def test_a_near_id_of_that_namespace_is_the_better_answer() -> None:
    registry.register("rg:chain_sums", "a:b")
    with pytest.raises(UnknownEnv) as bad:
        spec("rg:chain_sum")
    assert bad.value.suggestions == ("rg:chain_sums",)
    assert "not installed" not in str(bad.value)


def test_what_nobody_is_known_to_provide_has_no_provider() -> None:
    assert absent_providers("envs", "acme") == []
    assert absent_providers("colours", "red") == []


def test_who_is_installed_is_not_absent(site: Path) -> None:
    install(site, "gem-eval")
    assert absent_providers("commands", "eval") == []
