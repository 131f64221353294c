from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gem.cli._main import main

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]

MANIFEST = """
from gem.specs import EnvSpec, PluginManifest, ToolSpec

plugin = PluginManifest(name="acme", envs=(
    EnvSpec(id="acme:Echo", target="gem.testing.envs:Echo", summary="Say it backwards."),
    EnvSpec(id="acme:Coin", target="gem.testing.envs:Coin", summary="Call a coin."),
    EnvSpec(id="acme:Older", target="gem.testing.envs:Coin", replaced_by="acme:Coin"),
    EnvSpec(id="acme2:Lamps", target="gem.testing.envs:Lamps", summary="Light them."),
), tools=(ToolSpec(id="abacus", target="acme:abacus", summary="Count."),))
"""


@pytest.fixture(autouse=True)
def _acme(install: Install) -> None:
    install("acme-words", manifest=MANIFEST)


def test_ids_are_grouped_by_namespace_with_their_summaries(capsys: Output) -> None:
    assert main(["list", "acme*"]) == 0
    assert capsys.readouterr().out == (
        "acme (2)\n"
        "  acme:Coin  Call a coin.\n"
        "  acme:Echo  Say it backwards.\n"
        "\n"
        "acme2 (1)\n"
        "  acme2:Lamps  Light them.\n"
    )


def test_without_a_pattern_everything_is_listed(capsys: Output) -> None:
    assert main(["list"]) == 0
    assert "acme:Coin" in capsys.readouterr().out


def test_json_has_the_specs(capsys: Output) -> None:
    assert main(["list", "acme:*", "--json"]) == 0
    specs = json.loads(capsys.readouterr().out)
    assert [(spec["id"], spec["summary"]) for spec in specs] == [
        ("acme:Coin", "Call a coin."),
        ("acme:Echo", "Say it backwards."),
    ]


def test_an_older_id_is_listed_where_it_is_named(capsys: Output) -> None:
    assert main(["list", "acme:Older"]) == 0
    assert capsys.readouterr().out == "acme (1)\n  acme:Older\n"


def test_a_pattern_that_matches_nothing_is_wrong_use_with_the_nearest(capsys: Output) -> None:
    assert main(["list", "acme:Ecko"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Did you mean 'acme:Echo'" in captured.err.splitlines()[-1]


def test_several_patterns_list_what_any_of_them_finds_once(capsys: Output) -> None:
    assert main(["list", "ACME:c", "acme:Older", "acme:*", "acme:Older", "--json"]) == 0
    ids = [spec["id"] for spec in json.loads(capsys.readouterr().out)]
    assert ids == ["acme:Older", "acme:Coin", "acme:Echo"]


def test_of_several_patterns_each_must_find_something(capsys: Output) -> None:
    assert main(["list", "coin", "acme:Ecko"]) == 2
    assert "Did you mean 'acme:Echo'" in capsys.readouterr().err.splitlines()[-1]


def test_wrappers_are_listed(capsys: Output) -> None:
    assert main(["list", "concat*", "--wrappers"]) == 0
    assert "concat_chat" in capsys.readouterr().out


def test_json_has_the_wrappers_whose_ids_match(capsys: Output) -> None:
    assert main(["list", "concat", "--wrappers", "--json"]) == 0
    ids = [spec["id"] for spec in json.loads(capsys.readouterr().out)]
    assert ids == ["concat", "concat_chat", "concat_chat_on_reset", "concat_with_action"]


def test_a_pattern_that_matches_no_wrapper_is_wrong_use(capsys: Output) -> None:
    assert main(["list", "concatt", "--wrappers"]) == 2
    assert "'concat'" in capsys.readouterr().err


def test_tools_are_listed(capsys: Output) -> None:
    assert main(["list", "aba*", "--tools"]) == 0
    assert capsys.readouterr().out == "abacus  Count.\n"


def test_a_pattern_that_matches_no_tool_is_wrong_use(capsys: Output) -> None:
    assert main(["list", "abakus", "--tools"]) == 2
    assert "'abacus'" in capsys.readouterr().err


def test_broken_plugins_are_mentioned_on_standard_error(install: Install, capsys: Output) -> None:
    install("acme-bad", manifest="raise RuntimeError")

    assert main(["list", "acme:*"]) == 0

    captured = capsys.readouterr()
    [line] = captured.err.splitlines()
    assert "acme-bad" in line
    assert "acme-bad" not in captured.out


def test_listing_imports_no_environment(tmp_path: Path, install: Install) -> None:
    source = "raise AssertionError('imported')"
    folder = install(
        "acme-mines", envs={"mine:Boom": "acme_mines.boom:Boom"}, files={"boom.py": source}
    )
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); from gem.cli._main import main; "
        "assert main(['list']) == 0; assert not {'numpy', 'pluggy', 'acme_mines.boom'} & "
        "set(sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "mine:Boom" in done.stdout
