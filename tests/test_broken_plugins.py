"""Packs that are broken, each installed for real: reported with its cause, and harmless."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Install = Callable[..., None]

CLAIM = """
    from gem.specs import EnvSpec, PluginManifest

    plugin = PluginManifest(name={name!r}, envs=(EnvSpec(id="acme:Thing", target="acme:Thing"),))
"""
BROKEN = {
    "acme-raises": ("raise RuntimeError('no such licence file')", "gem.plugins.v1"),
    "acme-exits": (
        "import sys; sys.exit('this pack wants to leave')",
        "gem.plugins.v1",
    ),
    "acme-future": ("raise AssertionError('never imported')", "gem.plugins.v2"),
    "acme-nothing": ("plugin = {'name': 'a dictionary'}", "gem.plugins.v1"),
    "acme-one": (CLAIM.format(name="one"), "gem.plugins.v1"),
    "acme-two": (CLAIM.format(name="two"), "gem.plugins.v1"),
}
CAUSES = {
    "acme-raises": ("failed", "RuntimeError: no such licence file"),
    "acme-exits": ("failed", "SystemExit: this pack wants to leave"),
    "acme-future": ("incompatible", "plugin API v2"),
    "acme-nothing": ("failed", "dict"),
    "acme-one": ("conflict", "'acme:Thing'"),
    "acme-two": ("conflict", "'acme:Thing'"),
}
PLAY = """
import gem
env = gem.make("game:GuessTheNumber-v0-easy", seed=3)
env.reset()
while not (step := env.step(env.solve())).terminated: pass
print("won", step.info["success"])
"""


@pytest.fixture
def broken(install: Install, site: Path) -> Path:
    for name, (plugin, group) in BROKEN.items():
        install(name, plugin, group=group)
    return site


def reports(gem_env: Run, path: Path) -> dict[str, dict[str, str]]:
    done = gem_env("plugins", "--json", path=path)
    return {record["distribution"]: record for record in json.loads(done.stdout)}


def test_all_plugins_are_fine_without_them(gem_env: Run) -> None:
    done = gem_env("plugins")

    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_reports_every_cause_and_exits_1(gem_env: Run, broken: Path) -> None:
    done = gem_env("plugins", path=broken)

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for name, (state, cause) in CAUSES.items():
        assert name in done.stdout
        assert state in done.stdout
        assert cause in done.stdout


@pytest.mark.parametrize("name", sorted(CAUSES))
def test_each_one_is_reported_with_its_cause(gem_env: Run, broken: Path, name: str) -> None:
    state, cause = CAUSES[name]

    report = reports(gem_env, broken)[name]

    assert report["state"] == state
    assert cause in report["error"]


@pytest.mark.parametrize("name", ["acme-raises", "acme-exits", "acme-future", "acme-nothing"])
def test_one_alone_is_enough_to_exit_1(
    gem_env: Run, install: Install, site: Path, name: str
) -> None:
    plugin, group = BROKEN[name]
    install(name, plugin, group=group)

    assert gem_env("plugins", path=site).returncode == 1


def test_each_side_of_a_conflict_names_the_other(gem_env: Run, broken: Path) -> None:
    report = reports(gem_env, broken)

    assert "acme-two" in report["acme-one"]["error"]
    assert "acme-one" in report["acme-two"]["error"]


def test_the_other_plugins_stay_ok(gem_env: Run, broken: Path) -> None:
    found = reports(gem_env, broken)

    fine = {name for name, record in found.items() if record["state"] == "ok"}
    assert fine == set(found) - set(CAUSES)
    assert {"gem-core", "gem-envs-games", "gem-envs-math", "gem-eval"} <= fine


def test_making_another_packs_environment_is_not_affected(run_python: Run, broken: Path) -> None:
    done = run_python("-c", PLAY, path=broken)

    assert (done.stdout, done.stderr) == ("won True\n", "")


def test_listing_goes_on_without_them(gem_env: Run, broken: Path) -> None:
    done = gem_env("list", "game:*", path=broken)

    assert done.returncode == 0
    assert "game:GuessTheNumber-v0-easy" in done.stdout


def test_an_id_that_two_claim_is_refused_and_both_are_named(gem_env: Run, broken: Path) -> None:
    done = gem_env("show", "acme:Thing", path=broken)

    assert done.returncode == 2
    assert "acme-one" in done.stderr
    assert "acme-two" in done.stderr


def test_a_pack_may_not_shadow_an_id_of_another(
    gem_env: Run, run_python: Run, install: Install, site: Path
) -> None:
    claim = CLAIM.format(name="thief").replace("acme:Thing", "game:Mastermind-v0-hard")
    install("acme-thief", claim)

    make = "import gem; gem.make({!r})"
    refused = run_python("-c", make.format("game:Mastermind-v0-hard"), path=site)
    neighbour = run_python("-c", make.format("game:GuessTheNumber-v0-easy"), path=site)

    assert "IdConflict" in refused.stderr
    assert "acme-thief" in refused.stderr
    assert neighbour.returncode == 0
    assert reports(gem_env, site)["gem-envs-games"]["state"] == "conflict"


def test_strict_mode_raises_what_the_plugin_raised(run_python: Run, broken: Path) -> None:
    strict = {"GEM_STRICT_PLUGINS": "1"}

    done = run_python("-c", "import gem; gem.list_envs()", path=broken, env=strict)

    assert done.returncode != 0
