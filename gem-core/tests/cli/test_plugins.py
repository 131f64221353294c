from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.cli._main import main

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]

FINE = {"fine:Echo": "gem.testing.envs:Echo"}
BROKEN: dict[str, dict[str, Any]] = {
    "acme-raises": {"manifest": "raise RuntimeError('no such licence file')"},
    "acme-exits": {"manifest": "import sys; sys.exit('this pack wants to leave')"},
    "acme-future": {"manifest": "raise AssertionError", "group": "gem.plugins.v2"},
    "acme-one": {"envs": {"acme:Thing": "gem.testing.envs:Echo"}},
    "acme-two": {"envs": {"acme:Thing": "gem.testing.envs:Echo"}},
    "acme-deaf": {"hooks": ("acme_deaf.hooks",), "files": {"hooks.py": "raise OSError('deaf')"}},
}


@pytest.fixture
def broken(install: Install) -> None:
    install("fine-pack", envs=FINE)
    for name, options in BROKEN.items():
        install(name, **options)


def facts(capsys: Output) -> dict[str, dict[str, Any]]:
    main(["plugins", "--json"])
    return {record["distribution"]: record for record in json.loads(capsys.readouterr().out)}


def test_each_plugin_has_its_version_state_and_counts(install: Install, capsys: Output) -> None:
    install("fine-pack", envs=FINE, version="3.1")

    main(["plugins"])

    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["fine-pack", "fine-pack", "3.1", "ok", "1", "env"] in rows


def test_one_of_a_kind_is_counted_as_one(install: Install, capsys: Output) -> None:
    manifest = """
        from gem.specs import PluginManifest, PolicySpec
        policies = (PolicySpec(id="p", target="x:y"),)
        plugin = PluginManifest(name="one", policies=policies, hooks=("one_pack.hooks",))
    """
    hooks = """
        from gem.hooks import hookimpl

        @hookimpl
        def gem_run_started(run):
            pass
    """
    install("one-pack", manifest=manifest, files={"hooks.py": hooks})
    assert main(["plugins"]) == 0
    assert "1 policy, 1 hook" in capsys.readouterr().out


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(
    ("name", "state", "cause"),
    [
        ("acme-raises", "failed", "RuntimeError: no such licence file"),
        ("acme-exits", "failed", "SystemExit: this pack wants to leave"),
        ("acme-future", "incompatible", "plugin API v2"),
        ("acme-one", "conflict", "acme-two 1.0"),
        ("acme-two", "conflict", "acme-one 1.0"),
    ],
)
def test_a_broken_plugin_is_reported_with_its_cause(
    capsys: Output, name: str, state: str, cause: str
) -> None:
    record = facts(capsys)[name]

    assert record["state"] == state
    assert cause in record["error"]


@pytest.mark.usefixtures("broken")
def test_the_causes_are_on_the_page_and_the_status_is_1(capsys: Output) -> None:
    assert main(["plugins"]) == 1
    page = capsys.readouterr().out
    assert "no such licence file" in page
    assert "The hook module acme_deaf.hooks of acme-deaf failed at import: OSError: deaf" in page
    assert "Traceback" not in page


@pytest.mark.usefixtures("broken")
def test_a_hook_module_that_fails_is_reported_as_json(capsys: Output) -> None:
    [error] = facts(capsys)["acme-deaf"]["hook_errors"]

    assert "OSError: deaf" in error


def test_a_failed_hook_module_alone_is_enough_for_status_1(
    install: Install, capsys: Output
) -> None:
    install("acme-deaf", **BROKEN["acme-deaf"])

    assert main(["plugins"]) == 1


@pytest.mark.usefixtures("broken")
def test_tracebacks_are_shown_when_asked_for(capsys: Output) -> None:
    main(["plugins", "--traceback"])

    page = capsys.readouterr().out
    assert "  Traceback (most recent call last):" in page
    assert "acme_raises/plugin.py" in page
    assert "acme_deaf/hooks.py" in page


@pytest.mark.usefixtures("broken")
def test_the_others_are_not_affected(capsys: Output) -> None:
    assert facts(capsys)["fine-pack"]["state"] == "ok"
    assert gem.make("fine:Echo").reset(seed=0)[0]


def test_the_status_is_0_where_all_is_well(install: Install, capsys: Output) -> None:
    install("fine-pack", envs=FINE)

    status = main(["plugins", "--json"])

    records = json.loads(capsys.readouterr().out)
    all_well = all(each["state"] == "ok" and not each["hook_errors"] for each in records)
    assert status == int(not all_well)
