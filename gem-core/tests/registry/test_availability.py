"""What an environment needs that is not here: packages, data, and what its pack's probe says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gem import registry
from gem.cli._main import main
from gem.registry._availability import Lack, lacks
from gem.specs import DataSource, EnvSpec, ToolSpec

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]

MANIFEST = """
from gem.specs import DataSource, EnvSpec, PluginManifest, ToolSpec

def spec(name, **facts):
    target = "gem.testing.envs:Echo"
    return EnvSpec(id=f"acme:{name}", target=target, summary=f"The {name}.", **facts)

plugin = PluginManifest(name="acme", envs=(
    spec("Ready"),
    spec("Needy", requires=("acme-absent>=1.0",)),
    spec("Served", probe="acme_avail.probes:lacks"),
    spec("Named", kwargs={"url": "there"}, probe="acme_avail.probes:lacks"),
    spec("Posed", kwargs={"source": DataSource(homepage="https://example.com/rows")}),
    spec("Given", kwargs={"source": DataSource(hub="acme/rows"), "data": "mine.jsonl"}),
), tools=(
    ToolSpec(id="abacus", target="acme:abacus", summary="Count."),
    ToolSpec(id="absent", target="acme:absent", summary="None.", requires=("acme-absent>=1.0",)),
))
"""
PROBES = """
def lacks(url=None, **_):
    return None if url else ("a server that you name", "url=ADDRESS")
"""
ABSENT = 'pip install "acme-absent>=1.0"'


def spec(**facts: Any) -> EnvSpec:
    return EnvSpec(id="demo:A", target="a:b", **facts)


def test_what_has_nothing_to_need_is_ready() -> None:
    assert lacks(spec()) == ()
    assert lacks(spec(kwargs={"source": "of another kind"})) == ()


def test_a_package_that_is_absent_comes_with_its_command() -> None:
    assert lacks(spec(requires=("pytest", "acme-absent>=1.0"))) == (
        Lack("acme-absent>=1.0", ABSENT),
    )


def test_a_data_set_of_the_hub_needs_its_reader_and_a_place_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "datasets", raising=False)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    asked = spec(kwargs={"source": DataSource(hub="acme/sums")}, requires=("datasets>=1000",))

    assert [lack.what for lack in lacks(asked)][-1] == "its data set"
    assert "--prefetch" in lacks(asked)[-1].remedy
    assert lacks(asked)[0].what.startswith("datasets>=1000")

    prepared = tmp_path / "acme___sums" / "default" / "0.0.0" / "hash"
    prepared.mkdir(parents=True)
    (prepared / "sums-train.arrow").touch()
    assert len(lacks(asked)) == 1


@pytest.mark.parametrize(
    ("probe", "told"),
    [
        ("json:no_such", "TargetError"),
        ("builtins:len", "TypeError"),
        ("builtins:dict", "ValueError"),
    ],
)
def test_a_probe_that_fails_is_told_and_harms_no_other(probe: str, told: str) -> None:
    [lack] = lacks(spec(kwargs={"name": 1}, probe=probe))
    assert lack.what.startswith("a probe that works (")
    assert told in lack.what


def test_a_tool_needs_packages_alone() -> None:
    tool = ToolSpec(id="absent", target="a:b", requires=("acme-absent>=1.0",))
    assert lacks(tool, "tools") == (Lack("acme-absent>=1.0", ABSENT),)


# the listing


@pytest.fixture
def _acme(install: Install) -> None:
    install("acme-avail", manifest=MANIFEST, files={"probes.py": PROBES})


@pytest.mark.usefixtures("_acme")
def test_the_listing_marks_what_is_not_ready_and_ends_with_the_remedies(capsys: Output) -> None:
    assert main(["list", "acme:"]) == 0
    assert capsys.readouterr().out == (
        "acme (6, 3 ready)\n"
        "  acme:Given   The Given.\n"
        "  acme:Named   The Named.\n"
        "  acme:Needy   The Needy. [needs acme-absent>=1.0]\n"
        "  acme:Posed   The Posed. [needs a file of its rows]\n"
        "  acme:Ready   The Ready.\n"
        "  acme:Served  The Served. [needs a server that you name]\n"
        "\n"
        "3 of 6 are ready. The others need:\n"
        f"  1  acme-absent>=1.0        {ABSENT}\n"
        "  1  a file of its rows      data=FILE; `gem-env show ID` says where it is published\n"
        "  1  a server that you name  url=ADDRESS\n"
    )


def test_an_id_that_two_packs_claim_is_not_ready(install: Install) -> None:
    install("acme-one", envs={"acme:Same-v0": "a:b", "acme:One-v0": "a:b"}, version="1.5")
    install("acme-two", envs={"acme:Same-v0": "c:d"})

    assert lacks(registry.spec("acme:One-v0")) == ()
    assert lacks(EnvSpec(id="acme:Same-v0", target="a:b")) == (
        Lack(
            "a single pack (acme-one 1.5 and acme-two 1.0 claim it)",
            "uninstall all but one of them",
        ),
    )


@pytest.mark.usefixtures("_acme")
def test_available_leaves_out_what_is_not_ready(capsys: Output) -> None:
    assert main(["list", "acme:", "--available"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("acme (3)\n  acme:Given  The Given.\n")
    assert "acme:Needy" not in out
    assert "3 of 6 are ready" in out


@pytest.mark.usefixtures("_acme")
def test_where_nothing_is_ready_the_remedies_are_shown_alone(capsys: Output) -> None:
    assert main(["list", "acme:Needy", "--available"]) == 0
    assert capsys.readouterr().out.startswith("0 of 1 are ready. The others need:\n")


@pytest.mark.usefixtures("_acme")
def test_json_carries_it(capsys: Output) -> None:
    assert main(["list", "acme:[NR]e*", "--json"]) == 0
    needy, ready = json.loads(capsys.readouterr().out)
    assert (ready["id"], ready["available"], ready["lacks"]) == ("acme:Ready", True, [])
    assert (needy["id"], needy["available"]) == ("acme:Needy", False)
    assert needy["lacks"] == [{"what": "acme-absent>=1.0", "remedy": ABSENT}]


@pytest.mark.usefixtures("_acme")
def test_json_of_what_is_available_leaves_out_the_rest(capsys: Output) -> None:
    assert main(["list", "acme:", "--available", "--json"]) == 0
    ids = [each["id"] for each in json.loads(capsys.readouterr().out)]
    assert ids == ["acme:Given", "acme:Named", "acme:Ready"]


@pytest.mark.usefixtures("_acme")
def test_tools_are_marked_too(capsys: Output) -> None:
    assert main(["list", "ab", "--tools"]) == 0
    assert "absent  None. [needs acme-absent>=1.0]\n" in capsys.readouterr().out
    assert main(["list", "ab", "--tools", "--available"]) == 0
    assert capsys.readouterr().out.startswith("abacus  Count.\n\n1 of 2 are ready")


@pytest.mark.usefixtures("_acme")
@pytest.mark.parametrize("text", ["NEEDY", "eed", "acme:need*"])
def test_a_part_of_an_id_finds_it_in_any_case(capsys: Output, text: str) -> None:
    assert main(["list", text]) == 0
    assert "acme:Needy" in capsys.readouterr().out


def test_telling_imports_nothing_heavy(install: Install) -> None:
    folder = install("acme-avail", manifest=MANIFEST, files={"probes.py": PROBES})
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); from gem.cli._main import main; "
        "main(['list', 'acme:*']); heavy = {'numpy', 'datasets', 'pyarrow', 'pluggy', 'httpx'}; "
        "assert not heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_plugin_that_is_not_there_has_no_distribution() -> None:
    assert registry.provider("envs", "acme:Nothing") is None
