from __future__ import annotations

import json
import subprocess
import sys

import pytest

import gem
from gem.specs import EnvSpec
from gem_envs_games.plugin import plugin

KWARGS = {
    "game:GuessTheNumber-v0": {"min_number": 1, "max_number": 20, "max_turns": 20},
    "game:GuessTheNumber-v0-easy": {"min_number": 1, "max_number": 10, "max_turns": 4},
    "game:GuessTheNumber-v0-hard": {"min_number": 1, "max_number": 50, "max_turns": 7},
    "game:GuessTheNumber-v0-random": {"min_number": None, "max_number": None, "max_turns": None},
    "game:Mastermind-v0-easy": {
        "code_length": 2,
        "num_numbers": 6,
        "max_turns": 10,
        "duplicate_numbers": False,
    },
    "game:Mastermind-v0-hard": {
        "code_length": 4,
        "num_numbers": 8,
        "max_turns": 30,
        "duplicate_numbers": False,
    },
    "game:Mastermind-v0-random": {
        "code_length": None,
        "num_numbers": None,
        "max_turns": None,
        "duplicate_numbers": False,
    },
    "game:TowerofHanoi-v0-easy": {"num_disks": 3, "max_turns": 10},
    "game:TowerofHanoi-v0-hard": {"num_disks": 5, "max_turns": 35},
    "game:TowerofHanoi-v0-random": {"num_disks": None, "max_turns": None},
}

GAMES = [spec for spec in plugin.envs if spec.namespace == "game"]

IMPORTS = """
import json, sys
import gem.specs
before = set(sys.modules)
import gem_envs_games.plugin
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_every_id_has_its_published_arguments() -> None:
    assert {spec.id: dict(spec.kwargs) for spec in GAMES} == KWARGS


def test_the_registry_lists_what_the_manifest_states() -> None:
    listed = [spec for spec in gem.list_envs("game:*") if spec.target.startswith("gem_envs_games.")]

    assert listed == sorted(GAMES, key=lambda spec: spec.id)


@pytest.mark.parametrize("spec", GAMES, ids=lambda spec: spec.id)
def test_every_spec_says_what_the_game_is_and_that_it_never_waits(spec: EnvSpec) -> None:
    assert spec.summary
    assert not spec.blocking
    assert spec.fixed_start == (spec.kwargs.get("num_disks") is not None)


def test_the_manifest_imports_itself_and_the_standard_library_alone() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True
    )

    imported = json.loads(ran.stdout)
    ours = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names}
    assert ours == {
        "gem_envs_games",
        "gem_envs_games.plugin",
        "gem_envs_games.textarena",
        "gem_envs_games.textarena.listing",
    }
