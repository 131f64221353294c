"""Measure games of several seats: steps in a CPU second, beside TextArena's own games.

Run it with `python benchmarks/seats.py [--quick]`. Both are given the same random games and take
turns in one process, round by round; a step counts the observation that the next seat is asked
with, and the resets between games. TextArena's are its default ids; `-raw` ones leave out the
wrapper that writes what a model is shown. Each round makes TextArena's game anew, for its wrapper
slows down with every game that it has played.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from typing import Any, NamedTuple

from gem_envs_games.seated.connect_four import ConnectFour
from gem_envs_games.seated.nim import Nim
from gem_envs_games.seated.tic_tac_toe import TicTacToe

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


def main() -> None:
    """Print a line for each game."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three rounds in place of fifteen")
    rounds = 3 if parser.parse_args().quick else 15
    print(f"{'game':<20} {'ours':>10} {'theirs':>10} {'ratio':>7}   steps in a CPU second, medians")
    for ours, name, form in CASES:
        games = random_games(ours)
        for theirs in (name, f"{name}-raw"):
            pairs = [
                (our_rate(ours, games), their_rate(theirs, form, games)) for _ in range(rounds)
            ]
            our_median = statistics.median([our for our, _ in pairs])
            their_median = statistics.median([their for _, their in pairs])
            ratio = statistics.median([our / their for our, their in pairs])
            print(f"{theirs:<20} {our_median:>10.0f} {their_median:>10.0f} {ratio:>7.1f}")


if __name__ == "__main__":
    main()
