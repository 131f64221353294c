"""Measure games of several seats: steps in a CPU second, beside TextArena's own games.

Run it with `python benchmarks/seats.py [--quick]`. Both are given the same random games and take
turns in one process, round by round; a step counts the observation that the next seat is asked
with, and the resets between games. TextArena's are its default ids; `-raw` ones leave out the
wrapper that writes what a model is shown. Each round makes TextArena's game anew, for its wrapper
slows down with every game that it has played. A complete run writes benchmarks/results/seats.json.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

from gem_envs_games.seated.connect_four import ConnectFour
from gem_envs_games.seated.nim import Nim
from gem_envs_games.seated.tic_tac_toe import TicTacToe

RESULTS = Path(__file__).parent / "results" / "seats.json"
GAMES = 40  # in a round


class Case(NamedTuple):
    """One game in both packages. `form` writes a move for TextArena."""

    ours: type[Any]
    theirs: str
    form: str


CASES = (
    Case(TicTacToe, "TicTacToe-v0", "[{}]"),
    Case(ConnectFour, "ConnectFour-v0", "[col {}]"),
    Case(Nim, "Nim-v0", "[{}]"),
)


def random_games(make: type[Any]) -> list[list[str]]:
    """Return the moves of games that are played at random, by seeds from 0."""
    env = make()
    games = []
    for seed in range(GAMES):
        env.reset(seed=seed)
        moves = []
        while not env.position.is_over:
            action = env.sample_action()
            moves.append(action.removeprefix("\\boxed{").removesuffix("}"))
            env.step(action)
        games.append(moves)
    return games


def our_rate(make: type[Any], games: list[list[str]]) -> float:
    """Return our steps in a CPU second."""
    env = make()
    start = time.process_time()
    for seed, moves in enumerate(games):
        env.reset(seed=seed)
        for move in moves:
            env.step(f"\\boxed{{{move}}}")
    return sum(map(len, games)) / (time.process_time() - start)


def their_rate(name: str, form: str, games: list[list[str]]) -> float:
    """Return TextArena's steps in a CPU second."""
    env = importlib.import_module("textarena").make(name)  # it has no types
    start = time.process_time()
    for seed, moves in enumerate(games):
        env.reset(num_players=2, seed=seed)
        for move in moves:
            env.get_observation()
            env.step(form.format(move))
    return sum(map(len, games)) / (time.process_time() - start)


def measured(case: Case, name: str, games: list[list[str]], rounds: int) -> dict[str, Any]:
    """Measure one of TextArena's ids beside our game, in rounds."""
    pairs = [
        (our_rate(case.ours, games), their_rate(name, case.form, games)) for _ in range(rounds)
    ]
    return {
        "id": name,
        "ours_per_cpu_s": round(statistics.median([our for our, _ in pairs])),
        "theirs_per_cpu_s": round(statistics.median([their for _, their in pairs])),
        "ratio": round(statistics.median([our / their for our, their in pairs]), 1),
    }


def main() -> None:
    """Print a line for each game."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three rounds in place of fifteen")
    is_quick = parser.parse_args().quick
    print(f"{'game':<20} {'ours':>10} {'theirs':>10} {'ratio':>7}   steps in a CPU second, medians")
    rows = []
    for case in CASES:
        games = random_games(case.ours)
        for name in (case.theirs, f"{case.theirs}-raw"):
            row = measured(case, name, games, 3 if is_quick else 15)
            rows.append(row)
            print(
                f"{name:<20} {row['ours_per_cpu_s']:>10} {row['theirs_per_cpu_s']:>10} "
                f"{row['ratio']:>7.1f}"
            )
    if not is_quick:
        machine = {"python": platform.python_version(), "machine": platform.machine()}
        RESULTS.write_text(json.dumps({**machine, "games": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
