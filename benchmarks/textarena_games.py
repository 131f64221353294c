"""Measure what TextArena's games take through this project, beside TextArena itself.

Run it with `python benchmarks/textarena_games.py [--only PATTERN] [--quick]` where gem-envs-games
is installed with its extra `textarena`. Both are given the same games, which sampled actions made,
in one process and in turns, the order changing from round to round. A step of TextArena's raw
environment is `get_observation` and `step`; ours is `step` of what `gem.make` returns, which
reads the answer out of the text, keeps the game's chance apart, finds out whom to ask, and writes
what is new to each seat. Times are of CPU, without the resets, and a figure is the median over
rounds. A complete run writes benchmarks/results/textarena_games.json.
"""

from __future__ import annotations

import argparse
import copy
import fnmatch
import importlib
import json
import platform
import statistics
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gem
from gem.errors import DataError, MissingRequirement
from gem_envs_games.textarena.listing import ENVS, family_of

RESULTS = Path(__file__).parent / "results" / "textarena_games.json"
SEEDS = range(6)
MOST_STEPS = 60  # of a game
FEWEST_STEPS = 700  # in a round, for the clock


class Game(NamedTuple):
    """A game by its actions: as a player wrote them, and as TextArena takes them."""

    seed: int
    their_seed: int
    actions: list[str]
    answers: list[str]


def recorded(env: Any) -> list[Game]:
    """Return games of sampled actions."""
    games = []
    for seed in SEEDS:
        env.reset(seed=seed)
        actions = []
        for _ in range(MOST_STEPS):
            actions.append(env.sample_action())
            step = env.step(actions[-1])
            if step.terminated or step.truncated:
                break
        base = env.unwrapped
        games.append(Game(seed, base._seed, actions, list(base._answers)))
    return games


def our_microseconds(env: Any, games: list[Game], repeats: int) -> float:
    """Return the CPU time of our step."""
    taken = 0.0
    for game in games * repeats:
        env.reset(seed=game.seed)
        start = time.process_time()
        for action in game.actions:
            env.step(action)
        taken += time.process_time() - start
    return 1e6 * taken / (repeats * sum(len(game.actions) for game in games))


def their_microseconds(theirs: Any, players: int, games: list[Game], repeats: int) -> float:
    """Return the CPU time of TextArena's step."""
    taken = 0.0
    for game in games * repeats:
        fresh = copy.deepcopy(theirs)  # some of its games cannot be reset twice
        fresh.reset(num_players=players, seed=game.their_seed)
        start = time.process_time()
        for answer in game.answers:
            fresh.get_observation()
            fresh.step(answer)
        taken += time.process_time() - start
    return 1e6 * taken / (repeats * sum(len(game.actions) for game in games))


def plays(theirs: Any, players: int, game: Game) -> bool:
    """Tell whether TextArena itself gets through a game: in three, winning raises."""
    try:
        their_microseconds(theirs, players, [game], 1)
    except (AttributeError, TypeError):
        return False
    return True


def measured(env_id: str, rounds: int) -> dict[str, Any] | None:
    """Measure one id, in rounds. None where TextArena gets through no game."""
    env = gem.make(env_id)
    name = env.unwrapped.name  # type: ignore[attr-defined]
    theirs = importlib.import_module("textarena").make(f"{name}-raw")  # it has no types
    games = [game for game in recorded(env) if plays(theirs, len(env.seats), game)]
    if not games:
        return None
    repeats = 1 + FEWEST_STEPS // sum(len(game.actions) for game in games)
    ours: list[float] = []
    raw: list[float] = []
    for number in range(rounds):
        if number % 2:
            raw.append(their_microseconds(theirs, len(env.seats), games, repeats))
        ours.append(our_microseconds(env, games, repeats))
        if not number % 2:
            raw.append(their_microseconds(theirs, len(env.seats), games, repeats))
    return {
        "id": env_id,
        "seats": len(env.seats),
        "ours_us": round(statistics.median(ours), 1),
        "theirs_us": round(statistics.median(raw), 1),
        "added_us": round(statistics.median(a - b for a, b in zip(ours, raw, strict=True)), 1),
    }


def chosen(pattern: str) -> Iterator[str]:
    """Yield the ids that run here, one a family: its variants differ in size alone."""
    seen = set()
    for spec in ENVS:
        family = family_of(spec.kwargs["name"])
        if family.is_slow or family.name in seen or not fnmatch.fnmatch(spec.id, pattern):
            continue
        seen.add(family.name)
        try:
            gem.make(spec.id).close()
        except (DataError, MissingRequirement):
            continue
        yield spec.id


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians over the ids, of one seat and of several."""
    found = {}
    for name, group in (
        ("one seat", [row for row in rows if row["seats"] == 1]),
        ("several seats", [row for row in rows if row["seats"] > 1]),
    ):
        if group:
            found[name] = {
                "ids": len(group),
                "added_us_median": round(statistics.median(row["added_us"] for row in group), 1),
                "added_us_highest": max(row["added_us"] for row in group),
                "theirs_us_median": round(statistics.median(row["theirs_us"] for row in group), 1),
            }
    return found


def main() -> None:
    """Print a line for each id, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="*", help="a pattern of ids")
    parser.add_argument("--quick", action="store_true", help="three rounds, and nothing is kept")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    print(f"{'id':<34} {'seats':>5} {'ours':>8} {'theirs':>8} {'added':>8}   microseconds a step")
    for env_id in chosen(options.only):
        row = measured(env_id, 3 if options.quick else 7)
        if row is None:
            continue
        rows.append(row)
        figures = [row["ours_us"], row["theirs_us"], row["added_us"]]
        print(
            f"{env_id:<34} {row['seats']:>5} " + " ".join(f"{us:>8.1f}" for us in figures),
            flush=True,
        )
    found = summary(rows)
    print(json.dumps(found, indent=2))
    if not options.quick and options.only == "*":
        machine = {"python": platform.python_version(), "machine": platform.machine()}
        RESULTS.write_text(json.dumps({**machine, "summary": found, "ids": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
