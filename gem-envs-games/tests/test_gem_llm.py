"""Games at the import paths of gem-llm, as its users make and play them."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest

import gem
from gem_envs_games.plugin import plugin

PUBLISHED: dict[
    str, tuple[str, dict[str, Any]]
] = {  # module, class, its arguments in order and their defaults
    "crosswords": ("CrosswordsEnv", {"hardcore": False, "max_turns": 100, "num_words": 5}),
    "fifteen_puzzle": ("FifteenPuzzleEnv", {"max_turns": 20, "num_rows": 2}),
    "game_2048": ("Game2048Env", {"target_tile": 2048, "max_turns": 1000, "board_size": 4}),
    "guess_the_number": (
        "GuessTheNumberEnv",
        {"min_number": 1, "max_number": 20, "max_turns": 20},
    ),
    "hangman": ("HangmanEnv", {"word_length": 5, "hardcore": False, "max_turns": 20}),
    "mastermind": (
        "MastermindEnv",
        {"code_length": 4, "num_numbers": 6, "duplicate_numbers": False, "max_turns": 20},
    ),
    "minesweeper": ("MinesweeperEnv", {"rows": 8, "cols": 8, "num_mines": 10, "max_turns": 20}),
    "sokoban": ("SokobanEnv", {"dim_room": (6, 6), "max_turns": 100, "num_boxes": 3}),
    "sudoku": ("SudokuEnv", {"clues": 30, "max_turns": 100, "scale": 9}),
    "tower_of_hanoi": ("TowerofHanoiEnv", {"num_disks": 3, "max_turns": 100}),
    "word_search": ("WordSearchEnv", {"hardcore": False, "max_turns": 20, "num_words": 5}),
    "wordle": ("WordleEnv", {"word_length": 5, "only_real_words": True, "max_turns": 20}),
}


def class_of(module: str) -> Any:
    return getattr(importlib.import_module(f"gem.envs.game_env.{module}"), PUBLISHED[module][0])


def test_every_class_is_provided() -> None:
    assert sorted(plugin.published) == sorted(
        f"gem.envs.game_env.{module}:{name}" for module, (name, _) in PUBLISHED.items()
    )


@pytest.mark.parametrize("module", PUBLISHED)
def test_a_class_takes_what_the_published_one_took(module: str) -> None:
    parameters = inspect.signature(class_of(module)).parameters.values()

    taken = {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.default is not parameter.empty
    }
    assert list(taken.items()) == list(PUBLISHED[module][1].items())


@pytest.mark.parametrize("module", PUBLISHED)
def test_a_class_is_played_to_its_limit_as_the_published_one_was(module: str) -> None:
    env = class_of(module)(max_turns=2, entry_point="ignored")
    observation, info = env.reset(seed=3)

    assert observation
    assert info["suffix"]
    steps = []
    for _ in range(2):
        steps.append(env.step(env.sample_random_action()))
        if steps[-1].terminated:
            break
    assert steps[-1].terminated
    assert "suffix" in steps[-1].info
    assert env.max_turns == 2


@pytest.mark.parametrize("module", PUBLISHED)
def test_a_format_error_ends_the_game_and_pays_as_published(module: str) -> None:
    env = class_of(module)()
    env.reset(seed=3)

    _, reward, terminated, truncated, _ = env.step("nothing to read")
    assert (reward, terminated, truncated) == (-0.1, True, False)


def test_a_class_may_be_subclassed() -> None:
    class Shout(class_of("guess_the_number")):  # type: ignore[misc]
        def step(self, action: str) -> Any:
            observation, *rest = super().step(action)
            return observation.upper(), *rest

    env = Shout(1, 10, 3)
    env.reset(seed=3)
    assert env.step("\\boxed{99}").observation.startswith("AT TURN 1")


GAMES = sorted(
    {spec.id for spec in plugin.envs if spec.id.startswith("game:") and "-v0-" in spec.id}
)


@pytest.mark.parametrize("env_id", GAMES)
def test_with_the_switch_the_last_turn_truncates_and_terminates(env_id: str) -> None:
    env = gem.make(env_id, compat=True, max_turns=1)
    env.reset(seed=3)

    step = env.step("nothing to read")
    assert (step.terminated, step.truncated) == (True, True)
    assert "suffix" in step.info
