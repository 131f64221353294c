"""What this pack provides. Imports `gem.specs` and the standard library, nothing else."""

from __future__ import annotations

from typing import Any

from gem.specs import EnvSpec, PluginManifest

__all__ = ["plugin"]


def _spec(
    env_id: str, target: str, summary: str, kwargs: dict[str, Any], *, fixed_start: bool = False
) -> EnvSpec:
    return EnvSpec(
        id=env_id,
        target=f"gem_envs_games.{target}",
        kwargs=kwargs,
        summary=summary,
        blocking=False,
        fixed_start=fixed_start,
        source="Generated from the seed.",
        licence="Apache-2.0",
    )


def _guess_the_number(
    variant: str, summary: str, low: int | None, high: int | None, turns: int | None
) -> EnvSpec:
    return _spec(
        f"game:GuessTheNumber-v0{variant}",
        "guess_the_number:GuessTheNumber",
        f"Guess a number {summary}, from hints higher and lower.",
        {"min_number": low, "max_number": high, "max_turns": turns},
    )


def _mastermind(
    variant: str, summary: str, length: int | None, numbers: int | None, turns: int | None
) -> EnvSpec:
    return _spec(
        f"game:Mastermind-v0{variant}",
        "mastermind:Mastermind",
        f"Break a code of {summary}, from black and white pegs.",
        {
            "code_length": length,
            "num_numbers": numbers,
            "max_turns": turns,
            "duplicate_numbers": False,
        },
    )


def _tower_of_hanoi(variant: str, summary: str, disks: int | None, turns: int | None) -> EnvSpec:
    return _spec(
        f"game:TowerofHanoi-v0{variant}",
        "tower_of_hanoi:TowerOfHanoi",
        f"Move a tower of {summary}.",
        {"num_disks": disks, "max_turns": turns},
        fixed_start=disks is not None,
    )


plugin = PluginManifest(
    name="games",
    summary="Language games with verifiable outcomes.",
    envs=(
        _guess_the_number("", "from 1 to 20 in 20 turns", 1, 20, 20),
        _guess_the_number("-easy", "from 1 to 10 in 4 turns", 1, 10, 4),
        _guess_the_number("-hard", "from 1 to 50 in 7 turns", 1, 50, 7),
        _guess_the_number("-random", "in a range and turns drawn anew", None, None, None),
        _mastermind("-easy", "2 of 6 numbers in 10 turns", 2, 6, 10),
        _mastermind("-hard", "4 of 8 numbers in 30 turns", 4, 8, 30),
        _mastermind("-random", "2 of 4, 4 of 6 or 4 of 8 numbers", None, None, None),
        _tower_of_hanoi("-easy", "3 disks in 10 moves", 3, 10),
        _tower_of_hanoi("-hard", "5 disks in 35 moves", 5, 35),
        _tower_of_hanoi("-random", "3, 4 or 5 disks", None, None),
    ),
)
