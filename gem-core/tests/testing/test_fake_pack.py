from __future__ import annotations

import hashlib
import importlib.metadata
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import gem
from gem import registry
from gem.testing import fake_plugin

Install = Callable[..., Path]
ECHO = {"acme:Echo": "gem.testing.envs:Echo"}


def test_its_environments_are_found_and_made(install: Install) -> None:
    install("acme-words", envs=ECHO)

    assert gem.make("acme:Echo").spec is not None
    assert [spec.id for spec in gem.list_envs("acme:*")] == ["acme:Echo"]


def test_another_process_finds_it_by_its_path(tmp_path: Path) -> None:
    fake_plugin(tmp_path, "acme-words", envs=ECHO)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import gem; gem.make('acme:Echo')"

    subprocess.run([sys.executable, "-c", code], check=True)


def test_its_files_are_modules_of_the_package(install: Install) -> None:
    env = "from gem.testing.envs import Echo\nclass Shout(Echo): pass\n"
    install("acme-shout", envs={"acme:Shout": "acme_shout.loud:Shout"}, files={"loud.py": env})

    assert type(gem.make("acme:Shout")).__name__ == "Shout"


def test_its_manifest_may_be_broken(install: Install) -> None:
    install("acme-bad", manifest="raise RuntimeError('no licence')")

    [record] = [each for each in registry.plugins() if each.distribution == "acme-bad"]

    assert (record.state, record.error) == ("failed", "RuntimeError: no licence")


def test_name_and_version_are_those_of_the_distribution(install: Install) -> None:
    install("acme-words", version="2.5", envs=ECHO)

    owner = registry.owner("acme:Echo")

    assert owner is not None
    assert (owner.distribution, owner.version) == ("acme-words", "2.5")


def test_the_record_lists_every_file_with_its_hash(tmp_path: Path) -> None:
    fake_plugin(tmp_path, "acme-words", envs=ECHO)
    [found] = importlib.metadata.distributions(path=[str(tmp_path)])

    for file in found.files or []:
        content = (tmp_path / file).read_bytes()
        assert file.hash is None or len(content) == file.size
        assert file.hash is None or file.hash.mode == hashlib.sha256().name
    assert len(found.files or []) == 7
