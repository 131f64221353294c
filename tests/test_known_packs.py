"""Core's directory of packs is what their manifests say."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
from pathlib import Path

import gem
from gem import hooks, registry

ROOT = Path(__file__).parents[1]
KNOWN = json.loads(
    (Path(gem.__file__).parent / "registry" / "known_packs.json").read_text(encoding="utf-8")
)
OURS = {path.parent.name for path in ROOT.glob("*/pyproject.toml")} - {"gem-core"}


def providers(kind: str) -> dict[str, set[str]]:
    """Each word of a kind, and the distributions of ours whose manifests provide it."""
    found: dict[str, set[str]] = {}
    for record in registry.plugins():
        if record.distribution in OURS:
            for each in getattr(record.manifest, kind):
                word = each.namespace if kind == "envs" else each.id
                found.setdefault(word, set()).add(record.distribution)
    return found


def listed(kind: str) -> dict[str, set[str]]:
    """Each word of a kind, and the distributions that the directory names for it, the last ones."""
    return {
        word: {line.split()[-1].partition("[")[0] for line in lines}
        for word, lines in KNOWN[kind].items()
    }


def test_it_names_who_provides_each_word() -> None:
    kinds = ("envs", "wrappers", "tools", "policies", "executors")

    assert {kind: listed(kind) for kind in kinds} == {kind: providers(kind) for kind in kinds}


def test_it_names_every_command_of_a_pack() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    hooks.announce("gem_cli_commands", subparsers=commands)

    assert set(KNOWN["commands"]) == set(commands.choices)


def test_it_names_folders_and_extras_that_are_there() -> None:
    lines = {line for words in KNOWN.values() for given in words.values() for line in given}
    named = {name for line in lines for name in line.split()}

    for name in named:
        distribution, _, extras = name.rstrip("]").partition("[")
        stated = importlib.metadata.metadata(distribution).get_all("Provides-Extra") or []
        assert (ROOT / distribution / "pyproject.toml").is_file()
        assert set(filter(None, extras.split(","))) <= set(stated), name
