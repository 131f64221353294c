"""Plugins, each installed for real: a broken one breaks only itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem import registry
from gem.errors import IdConflict, UnknownEnv
from gem.registry._discovery import PluginRecord
from gem.testing import fake_plugin

Install = Callable[..., Path]


def record(name: str) -> PluginRecord:
    (found,) = (each for each in registry.plugins() if each.name == name)
    return found


def others_work() -> bool:
    return record("core").state == "ok" and registry.wrapper_spec("concat").id == "concat"


def test_the_core_is_a_plugin_like_any_other() -> None:
    core = record("core")
    assert (core.distribution, core.state, core.error, core.traceback) == (
        "gem-core",
        "ok",
        None,
        None,
    )
    assert core.manifest is not None
    assert core.manifest.name == "core"


def test_other_entry_points_of_a_plugin_s_distribution_are_no_plugins() -> None:
    assert "gem-env" not in {each.name for each in registry.plugins()}


def test_an_installed_plugin_is_found(install: Install) -> None:
    install("acme-words", envs={"acme:Words-v0": "acme_words.game:Words"}, version="3.1")
    found = record("acme-words")
    assert (found.distribution, found.version, found.state) == ("acme-words", "3.1", "ok")
    assert registry.spec("acme:Words-v0").target == "acme_words.game:Words"
    assert "acme_words.game" not in sys.modules


@pytest.mark.parametrize(
    ("manifest", "error"),
    [
        ("raise RuntimeError('two\\nlines')", "RuntimeError: two lines"),
        ("import sys; sys.exit(4)", "SystemExit: 4"),
        ("plugin = 5", "TypeError: acme_broken.plugin:plugin is a int, and must be a"),
        ("plugin = {'name': 'x'}", "is a dict, and must be a gem.PluginManifest"),
        ("", "AttributeError"),
        ("import no_such_module_here", "ModuleNotFoundError"),
        ("def broken(:", "SyntaxError"),
        ("raise BaseException", "BaseException"),
        (
            "error = SyntaxError('bad')\nerror.lineno, error.text = 1, 5\nraise error",
            "SyntaxError: bad (line 1)",
        ),
        (
            "from gem.specs import *\nplugin = PluginManifest(name='not an id!')",
            "PluginManifest: name: String should match pattern",
        ),
        (
            "from gem.specs import *\n"
            "env = EnvSpec(id='a:B', target='a:b')\n"
            "plugin = PluginManifest(name='a', envs=(env, env))",
            "envs lists 'a:B' more than once",
        ),
    ],
)
def test_a_plugin_that_does_not_load_is_reported_alone(
    install: Install, manifest: str, error: str
) -> None:
    install("acme-broken", manifest=manifest)
    found = record("acme-broken")
    assert (found.state, found.manifest) == ("failed", None)
    assert found.error is not None
    assert error in found.error
    assert "\n" not in found.error
    assert found.traceback is not None
    assert "Traceback" in found.traceback or "SyntaxError" in found.traceback
    assert others_work()


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "GeneratorExit"])
def test_an_interrupt_goes_through(install: Install, error: str) -> None:
    install("acme-broken", manifest=f"raise {error}")
    with pytest.raises((KeyboardInterrupt, GeneratorExit)):
        registry.plugins()


def test_a_strict_user_gets_the_error_itself(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("acme-broken", manifest="raise RuntimeError('mine')")
    monkeypatch.setenv("GEM_STRICT_PLUGINS", "1")
    with pytest.raises(RuntimeError, match="mine"):
        registry.plugins()
    monkeypatch.setenv("GEM_STRICT_PLUGINS", "0")
    assert record("acme-broken").state == "failed"


@pytest.mark.parametrize("version", ["v2", "v0", "v10"])
def test_a_plugin_of_another_api_is_listed_and_never_imported(
    install: Install, version: str
) -> None:
    install("acme-future", manifest="raise SystemExit", group=f"gem.plugins.{version}")
    found = record("acme-future")
    assert (found.state, found.manifest) == ("incompatible", None)
    assert found.error is not None
    assert f"plugin API {version}, and this gem-core speaks v1" in found.error
    assert "acme_future.plugin" not in sys.modules
    assert others_work()


def test_unknown_fields_of_a_newer_manifest_are_ignored(install: Install) -> None:
    install(
        "acme-newer",
        manifest="""
            from gem.specs import EnvSpec, PluginManifest

            plugin = PluginManifest(
                name="acme-newer", holograms=(1, 2),
                envs=(EnvSpec(id="acme:New-v0", target="a:b", smell="roses"),),
            )
            """,
    )
    assert record("acme-newer").state == "ok"
    assert registry.spec("acme:New-v0").id == "acme:New-v0"


def test_two_that_claim_one_id_are_in_conflict_about_that_id_alone(install: Install) -> None:
    install("acme-one", envs={"acme:Same-v0": "a:b", "acme:One-v0": "a:b"}, version="1.5")
    install("acme-two", envs={"acme:Same-v0": "c:d", "acme:Two-v0": "c:d"})
    for name in ("acme-one", "acme-two"):
        found = record(name)
        assert found.state == "conflict"
        assert found.error == (
            "'acme:Same-v0' is claimed by acme-one 1.5 and acme-two 1.0. Uninstall all but one."
        )
    with pytest.raises(IdConflict, match=r"claimed by acme-one 1.5 and acme-two 1.0") as caught:
        gem.make("acme:Same-v0")
    assert caught.value.distributions == ("acme-one 1.5", "acme-two 1.0")
    assert caught.value.id == "acme:Same-v0"
    assert registry.spec("acme:One-v0").target == "a:b"
    assert registry.spec("acme:Two-v0").target == "c:d"
    assert others_work()


def test_a_namespace_may_have_several_packs(install: Install) -> None:
    install("acme-one", envs={"acme:One-v0": "a:b"})
    install("acme-two", envs={"acme:Two-v0": "a:b"})
    assert [each.id for each in registry.list_envs("acme:*")] == ["acme:One-v0", "acme:Two-v0"]
    assert record("acme-one").state == record("acme-two").state == "ok"


def test_a_wrapper_s_id_can_be_in_conflict_too(install: Install) -> None:
    install(
        "acme-rival",
        manifest="""
            from gem.specs import PluginManifest, WrapperSpec

            plugin = PluginManifest(
                name="acme-rival", wrappers=(WrapperSpec(id="concat", target="a:b"),)
            )
            """,
    )
    with pytest.raises(IdConflict, match=r"'concat' is claimed by acme-rival 1.0 and gem-core"):
        registry.wrapper_spec("concat")
    assert registry.wrapper_spec("concat_chat").id == "concat_chat"


def about(folder: Path, name: str, **files: bytes) -> None:
    path = folder / f"{name}.dist-info"
    path.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (path / file.replace("_txt", ".txt")).write_bytes(text)


def test_damaged_metadata_of_one_distribution_hides_no_other(install: Install) -> None:
    site = install("acme-words", envs={"acme:Words-v0": "a:b"})
    named = b"Name: damaged\nVersion: 1\n"
    about(site, "damaged_a-1", METADATA=named, entry_points_txt=b"no section\n")
    about(site, "damaged_b-1", METADATA=named, entry_points_txt=b"\xff[gem.plugins.v1]\n")
    about(
        site,
        "damaged_c-1",
        entry_points_txt=b"[gem.plugins.v1]\nx = nowhere_at_all:y\n",
    )
    about(
        site,
        "damaged_d-1",
        METADATA=named,
        entry_points_txt=b"[gem.plugins.v1]\nno equals\n",
    )
    about(
        site,
        "damaged_e-1",
        METADATA=b"Name: e\n",
        entry_points_txt=b"[gem.plugins.v1]\nz = ?\n",
    )
    about(site, "damaged_f-1", METADATA=named)
    registry.refresh()
    assert record("acme-words").state == "ok"
    assert others_work()
    broken = {each.name: each for each in registry.plugins() if each.state == "failed"}
    assert {name: each.distribution for name, each in broken.items()} == {
        "x": "?",
        "damaged": "damaged",
        "z": "e",
    }
    assert broken["z"].version == "?"


def test_the_first_of_two_copies_on_the_path_counts(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("acme-words", envs={"acme:Words-v0": "a:b"}, version="2.0")
    (tmp_path / "older").mkdir()
    fake_plugin(tmp_path / "older", "acme-words", envs={"acme:Old-v0": "a:b"}, version="1.0")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "older")])
    registry.refresh()
    assert (record("acme-words").version, record("acme-words").state) == ("2.0", "ok")
    with pytest.raises(UnknownEnv):
        registry.spec("acme:Old-v0")


def test_the_published_package_of_the_same_folder_is_named(install: Install) -> None:
    site = install("acme-words", envs={"acme:Words-v0": "a:b"})
    about(site, "gem_llm-0.1.0", METADATA=b"Name: gem-llm\nVersion: 0.1.0\n")
    registry.refresh()
    rival = record("gem-llm")
    assert (rival.state, rival.version, rival.manifest) == ("conflict", "0.1.0", None)
    assert rival.error is not None
    assert "Run `pip uninstall gem-llm`" in rival.error
    with pytest.raises(UnknownEnv, match="Run `pip uninstall gem-llm`"):
        gem.make("acme:Wrods-v0")
    assert registry.spec("acme:Words-v0").id == "acme:Words-v0"


def test_listing_imports_manifests_only(tmp_path: Path) -> None:
    fake_plugin(
        tmp_path,
        "acme-heavy",
        envs={"acme:Heavy-v0": "acme_heavy.game:Heavy"},
        files={"game.py": "raise SystemExit('imported')"},
    )
    program = """
import sys
import gem
assert "acme:Heavy-v0" in [spec.id for spec in gem.list_envs()]
print(*sorted({"numpy", "datasets", "pluggy", "acme_heavy.game"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert done.stdout.split() == []


def test_records_say_all_there_is_to_say() -> None:
    fields: dict[str, Any] = {
        name: getattr(record("core"), name) for name in PluginRecord.__dataclass_fields__
    }
    assert list(fields) == [
        "name",
        "distribution",
        "version",
        "state",
        "manifest",
        "error",
        "traceback",
    ]
