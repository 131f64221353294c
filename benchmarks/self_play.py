"""Train by self-play, and hold what is learnt to exact play.

Run it with `python benchmarks/self_play.py [--processes N]`: about 25 CPU minutes. It may be killed
and run again: an arm that is done is in benchmarks/results/self_play.json and is not trained anew;
`--again` forgets them. `--summary` prints what is there and trains nothing.

- `kuhn`, three seeds: the exploitability of Kuhn poker, by its whole tree, of the policy of the
  last update, which is what the training keeps. It must be under 0.05 within 10 CPU minutes.
- `tic_tac_toe`, five seeds with the monitor and without: games lost out of 200 against perfect
  play, 100 in each seat, by drawn actions and by the most probable ones. A training degrades where
  it ends with 10 lost games of drawn actions more than at its best. Without the monitor at least
  three must, with it none, and none may lose a game by the most probable actions then.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any

import gem
from gem.conversation import Request
from gem.parsing import boxed
from gem_baselines.learning_policy import LearningPolicy
from gem_baselines.tabular import TabularPolicy
from gem_baselines.training.experiment import Experiment, read_experiment
from gem_baselines.training.training import Training
from gem_envs_games.trees import KuhnPoker
from gem_envs_games.trees.solving import analysis_of, exploitability, from_table

RESULTS = Path(__file__).parent / "results" / "self_play.json"
EXPERIMENTS = Path(__file__).parents[1] / "examples" / "experiments"
LOOK_EVERY = 60  # updates
GAMES = 200  # against perfect play, half of them in each seat
LEAST_LOSS = 10  # games more than at its best, for a training that has degraded
LEAST_DEGRADED = 3  # of the trainings without the monitor
MOST_EXPLOITABILITY = 0.05
MOST_CPU_S = 600
Arm = tuple[str, bool, int]
"""The game, whether there is a monitor, and the seed."""
ARMS: tuple[Arm, ...] = (
    *(("kuhn", False, seed) for seed in range(3)),
    *(("tic_tac_toe", monitor, seed) for seed in range(5) for monitor in (False, True)),
)


def main() -> int:
    """Train the arms that are not done, and say what was reached."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=1, metavar="N")
    parser.add_argument("--again", action="store_true", help="train all arms anew")
    parser.add_argument("--summary", action="store_true", help="train nothing")
    options = parser.parse_args()
    rows = [] if options.again or not RESULTS.is_file() else json.loads(RESULTS.read_text())
    done = {(row["game"], row["monitor"], row["seed"]) for row in rows}
    left = [] if options.summary else [arm for arm in ARMS if arm not in done]
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, spawning) as pool:
        for future in as_completed([pool.submit(trained, arm) for arm in left]):
            rows.append(future.result())
            _keep(sorted(rows, key=lambda row: (row["game"], row["monitor"], row["seed"])))
            print(_line(rows[-1]), flush=True)
    if not left:
        print("\n".join(map(_line, rows)))
    problems = missed(rows)
    print("\n".join(problems) or "All is reached.")
    return 1 if problems else 0


def trained(arm: Arm) -> dict[str, Any]:
    """Train one arm, and return how good it was on the way and at its end."""
    game, monitor, seed = arm
    settings = read_experiment(str(EXPERIMENTS / f"{game}_self_play.toml"))
    settings["self_play"] = {**settings["self_play"], "monitor": monitor}
    experiment = Experiment.of({**settings, "seed": seed, "sample_every": 0})
    looks: list[dict[str, Any]] = []
    looked_s = 0.0
    since_s = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        training = Training.begun(experiment, Path(folder, "run"))

        def look(figures: Mapping[str, Any]) -> None:
            nonlocal looked_s
            if figures["update"] % LOOK_EVERY == 0:
                began_s = time.process_time()
                looks.append({"update": figures["update"], **MEASURES[game](training.policy)})
                looked_s += time.process_time() - began_s

        training.run(look)
        went_back = [] if training.self_play is None else training.self_play.went_back
    cpu_s = time.process_time() - since_s - looked_s
    return {
        "game": game,
        "monitor": monitor,
        "seed": seed,
        "updates": experiment.updates,
        "games": experiment.updates * experiment.episodes,
        "cpu_s": round(cpu_s, 1),
        "went_back": went_back,
        "looks": looks,
    }


def kuhn_figures(policy: TabularPolicy) -> dict[str, Any]:
    """Return the exploitability of a policy that plays Kuhn poker, exactly."""
    table = {}
    for information, request in _kuhn_requests().items():
        probabilities = policy.probabilities(request)
        table[information] = {
            "pass": probabilities[boxed("pass")],
            "bet": probabilities[boxed("bet")],
        }
    play = from_table(table)
    return {"exploitability": exploitability(analysis_of(KuhnPoker()), [play, play])}


def tic_tac_toe_figures(policy: LearningPolicy) -> dict[str, Any]:
    """Return how many games are lost against perfect play."""
    figures = {}
    for name, is_greedy in (("lost_drawn", False), ("lost_greedy", True)):
        policy.is_greedy = is_greedy
        games = gem.run([policy, _Solver()], "game:TicTacToe-v0", episodes=GAMES, seed=1)
        policy.is_greedy = False
        own = [part for game in games for part in game.parts() if part.seats[0].policy_index == 0]
        figures[name] = sum(part.total_reward < 0 for part in own)
    return figures


MEASURES: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "kuhn": kuhn_figures,
    "tic_tac_toe": tic_tac_toe_figures,
}


class _Solver:
    """Plays the environment's own solution."""

    name = "perfect play"
    wants = ("solution",)

    def __call__(self, request: Request) -> str:
        return request.solution or ""


@cache
def _kuhn_requests() -> dict[str, Request]:
    """Return the request that a policy gets in each of the 12 decisions, by the tree's name."""
    requests: dict[str, Request] = {}

    def noting(request: Request) -> str:
        told = request.messages[-1].text
        card = request.messages[0].text.partition("Your card is ")[2][0]
        second = "b" if "chose bet" in told else "p"
        bets = second if request.seat == 1 else ["", "pb"][request.turn]
        requests[f"{request.seat} {card} {bets}"] = request
        return boxed(random.Random(request.seed).choice(["pass", "bet"]))

    gem.run(noting, "gem_envs_games.seated.kuhn_poker:KuhnPoker", episodes=200)
    assert len(requests) == 12, "200 games come to all decisions"
    return requests


def missed(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say what was not reached."""
    problems = []
    for row in rows:
        if row["game"] == "kuhn":
            last = row["looks"][-1]["exploitability"]
            if last >= MOST_EXPLOITABILITY or row["cpu_s"] > MOST_CPU_S:
                problems.append(f"{_name(row)}: {last:.3f} after {row['cpu_s']} CPU s.")
        elif row["monitor"]:
            if has_degraded(row):
                problems.append(f"{_name(row)}: it has degraded.")
            if row["looks"][-1]["lost_greedy"]:
                problems.append(f"{_name(row)}: it loses to perfect play.")
    alone = [row for row in rows if row["game"] == "tic_tac_toe" and not row["monitor"]]
    num_degraded = sum(map(has_degraded, alone))
    if num_degraded < LEAST_DEGRADED:
        problems.append(f"Without the monitor {num_degraded} of {len(alone)} have degraded.")
    if len(rows) < len(ARMS):
        problems.append(f"{len(rows)} of {len(ARMS)} arms are done.")
    return problems


def has_degraded(row: Mapping[str, Any]) -> bool:
    """Say whether a training of TicTacToe ends with more lost games than at its best."""
    lost = [look["lost_drawn"] for look in row["looks"]]
    return bool(lost[-1] - min(lost) >= LEAST_LOSS)


def _keep(rows: Sequence[Mapping[str, Any]]) -> None:
    draft = RESULTS.with_suffix(".draft")
    draft.write_text(json.dumps(rows, indent=1) + "\n", encoding="ascii")
    draft.replace(RESULTS)


def _name(row: Mapping[str, Any]) -> str:
    watched = " with the monitor" if row["monitor"] else ""
    return f"{row['game']}{watched}, seed {row['seed']}"


def _line(row: Mapping[str, Any]) -> str:
    looks = row["looks"]
    if row["game"] == "kuhn":
        course = ", ".join(f"{look['exploitability']:.3f}" for look in looks)
        return f"{_name(row)}, {row['cpu_s']} CPU s: exploitability {course}"
    drawn = ", ".join(str(look["lost_drawn"]) for look in looks)
    greedy = ", ".join(str(look["lost_greedy"]) for look in looks)
    went_back = f"; it went back after {row['went_back']}" if row["went_back"] else ""
    degraded = "degraded, " if has_degraded(row) else ""
    return (
        f"{_name(row)}, {row['cpu_s']} CPU s: {degraded}lost of {GAMES} {drawn} drawn, {greedy} "
        f"most probable{went_back}"
    )


if __name__ == "__main__":
    sys.exit(main())
