from __future__ import annotations

import json
import subprocess
import sys

import pytest

import gem
from gem.specs import EnvSpec
from gem_envs_games.plugin import plugin

PUBLISHED: dict[str, dict[str, object]] = {
    "GuessTheNumber-v0-hard": {"min_number": 1, "max_number": 50, "max_turns": 7},
    "GuessTheNumber-v0-easy": {"min_number": 1, "max_number": 10, "max_turns": 4},
    "GuessTheNumber-v0-random": {"min_number": None, "max_number": None, "max_turns": None},
    "Mastermind-v0-hard": {
        "code_length": 4,
        "num_numbers": 8,
        "max_turns": 30,
        "duplicate_numbers": False,
    },
    "Mastermind-v0-random": {
        "code_length": None,
        "num_numbers": None,
        "max_turns": None,
        "duplicate_numbers": False,
    },
    "Mastermind-v0-easy": {
        "code_length": 2,
        "num_numbers": 6,
        "max_turns": 10,
        "duplicate_numbers": False,
    },
    "Minesweeper-v0-easy": {"rows": 5, "cols": 5, "num_mines": 5, "max_turns": 25},
    "Minesweeper-v0-hard": {"rows": 8, "cols": 8, "num_mines": 12, "max_turns": 64},
    "Minesweeper-v0-random": {"rows": None, "cols": None, "num_mines": None, "max_turns": None},
    "Wordle-v0-hard": {"word_length": 5, "only_real_words": True, "max_turns": 25},
    "Wordle-v0-easy": {"word_length": 3, "only_real_words": True, "max_turns": 15},
    "Wordle-v0-random": {"word_length": None, "only_real_words": True, "max_turns": None},
    "FifteenPuzzle-v0-random": {"num_rows": None, "max_turns": None},
    "FifteenPuzzle-v0-easy": {"num_rows": 2, "max_turns": 10},
    "FifteenPuzzle-v0-hard": {"num_rows": 4, "max_turns": 50},
    "Hangman-v0-random": {"word_length": None, "hardcore": False, "max_turns": None},
    "Hangman-v0-easy": {"word_length": 3, "hardcore": False, "max_turns": 10},
    "Hangman-v0-hard": {"word_length": 7, "hardcore": False, "max_turns": 20},
    "Sudoku-v0-easy": {"clues": 10, "max_turns": 15, "scale": 4},
    "Sudoku-v0-hard": {"clues": 50, "max_turns": 50, "scale": 9},
    "Sudoku-v0-random": {"clues": None, "max_turns": None, "scale": None},
    "TowerofHanoi-v0-easy": {"num_disks": 3, "max_turns": 10},
    "TowerofHanoi-v0-hard": {"num_disks": 5, "max_turns": 35},
    "TowerofHanoi-v0-random": {"num_disks": None, "max_turns": None},
    "Game2048-v0-easy": {"target_tile": 64, "max_turns": 50},
    "Game2048-v0-hard": {"target_tile": 512, "max_turns": 50},
    "Game2048-v0-extreme-hard": {"target_tile": 2048, "max_turns": 100},
    "Game2048-v0-random": {"target_tile": None, "max_turns": None},
    "Sokoban-v0-easy": {"dim_room": (6, 6), "num_boxes": 2, "max_turns": 20},
    "Sokoban-v0-hard": {"dim_room": (8, 8), "num_boxes": 4, "max_turns": 50},
    "Sokoban-v0-random": {"dim_room": None, "num_boxes": None, "max_turns": None},
    "Crosswords-v0-easy": {"hardcore": False, "max_turns": 30, "num_words": 3},
    "Crosswords-v0-hard": {"hardcore": True, "max_turns": 40, "num_words": 3},
    "Crosswords-v0-random": {"hardcore": None, "max_turns": None, "num_words": None},
    "WordSearch-v0-easy": {"num_words": 5, "max_turns": 20, "hardcore": False},
    "WordSearch-v0-hard": {"num_words": 5, "max_turns": 20, "hardcore": True},
    "WordSearch-v0-random": {"num_words": None, "max_turns": None, "hardcore": None},
    "WikiGame-v0-easy": {"max_turns": 30},
    "WikiGame-v0-hard": {"max_turns": 15},
}

GAMES = [spec for spec in plugin.envs if spec.namespace == "game" and not spec.replaced_by]
OLDER = [spec for spec in plugin.envs if spec.replaced_by]

IMPORTS = """
import json, sys
import gem.specs
before = set(sys.modules)
import gem_envs_games.plugin
print(json.dumps(sorted(set(sys.modules) - before)))
"""

GAME = """
import sys
import gem
env = gem.make("game:GuessTheNumber-v0-easy")
env.reset(seed=1)
print(*sorted({"numpy", "datasets", "pyarrow"} & sys.modules.keys()))
"""


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_id_has_its_published_arguments(name: str) -> None:
    given = gem.spec(f"game:{name}").kwargs

    assert {argument: given[argument] for argument in PUBLISHED[name]} == PUBLISHED[name]


def test_playing_a_game_imports_neither_numpy_nor_datasets() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GAME], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.split() == []


def test_the_registry_lists_what_the_manifest_states() -> None:
    listed = [spec for spec in gem.list_envs("game:*") if spec.target.startswith("gem_envs_games.")]

    assert listed == sorted(GAMES, key=lambda spec: spec.id)


@pytest.mark.parametrize("spec", OLDER, ids=lambda spec: spec.id)
def test_an_older_id_makes_its_own_game_and_names_one_that_is_listed(spec: EnvSpec) -> None:
    with pytest.warns(DeprecationWarning, match=f"Use '{spec.replaced_by}'"):
        env = gem.make(spec.id)

    env.reset(seed=3)
    assert "action_error" not in env.step(str(env.solve())).info
    assert spec.replaced_by in {listed.id for listed in GAMES}
    assert spec not in gem.list_envs("game:*")


def test_the_sizes_of_older_ids_are_those_that_configurations_name_for_them() -> None:
    sizes = {
        spec.id.partition(":")[2]: {**spec.kwargs, "max_turns": None, "no_guess": None}
        for spec in OLDER
    }
    plain = {
        name: {argument: value for argument, value in given.items() if value is not None}
        for name, given in sizes.items()
    }
    assert plain == {
        "Mastermind-v0": {"code_length": 4, "num_numbers": 6, "duplicate_numbers": False},
        "Minesweeper-v0": {"rows": 8, "cols": 8, "num_mines": 10},
        "Wordle-v0": {"word_length": 5, "only_real_words": True},
        "FifteenPuzzle-v0": {"num_rows": 3},
        "Hangman-v0": {"word_length": 5, "hardcore": False},
        "Sudoku-v0": {"scale": 9, "clues": 50},
        "TowerofHanoi-v0": {"num_disks": 4, "scattered": False},
    }


def test_sokoban_takes_the_room_by_its_older_name() -> None:
    with pytest.warns(DeprecationWarning, match="Write dim_room="):
        env = gem.make("game:Sokoban-v0-random", room_size=[6, 6], num_boxes=2)

    assert env.spec is not None
    assert env.spec.kwargs["dim_room"] == [6, 6]


@pytest.mark.parametrize("spec", GAMES, ids=lambda spec: spec.id)
def test_every_spec_says_what_the_game_is(spec: EnvSpec) -> None:
    assert spec.summary
    assert spec.licence


def test_the_manifest_imports_itself_and_the_standard_library_alone() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True
    )

    imported = json.loads(ran.stdout)
    ours = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names}
    assert ours == {
        "gem_envs_games",
        "gem_envs_games.plugin",
        "gem_envs_games.seated",
        "gem_envs_games.seated.listing",
        "gem_envs_games.textarena",
        "gem_envs_games.textarena.listing.family",
        "gem_envs_games.textarena.listing",
        "gem_envs_games.textarena.listing.one_player",
        "gem_envs_games.textarena.listing.several_players",
    }
