"""Train by self-play, and hold what is learnt to exact play.

Run it with `python benchmarks/self_play.py [--processes N]`: about 25 CPU minutes. It may be killed
and run again: an arm that is done is in benchmarks/results/self_play.json and is not trained anew;
`--again` forgets them. `--summary` prints what is there and trains nothing.

- `kuhn`, three seeds: the exploitability of Kuhn poker, by its whole tree, of the policy of the
  last update, which is what the training keeps. It must be under 0.05 within 10 CPU minutes.
- `tic_tac_toe`, five seeds with the monitor and without: against perfect play, which draws among
  the best moves, the games lost out of 200, 100 in each seat, by the policy's most probable actions
  and by drawn ones, and the share of games lost, by the whole tree. What counts is the policy that
  `baseline:PATH` plays: the best one that the monitor knows, without it the last. A training
  degrades where it ends with 10 lost games of drawn actions more than at its best look. Without the
  monitor at least three must, with it none, and none may lose a game by the most probable actions.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any

import gem
from gem.content import Message
from gem.conversation import Request
from gem.parsing import boxed
from gem_baselines.baseline import load
from gem_baselines.tabular import TabularPolicy
from gem_baselines.training.experiment import Experiment, read_experiment
from gem_baselines.training.training import Training
from gem_envs_games.trees import KuhnPoker, TicTacToe
from gem_envs_games.trees.solving import analysis_of, exploitability, from_table
from gem_envs_games.trees.solving.positions import PositionGraph

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
        kept_update = training.progress.best_update
        began_s = time.process_time()
        kept = MEASURES[game](load(str(training.folder.path)))
        looked_s += time.process_time() - began_s
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
        "kept": {"update": kept_update or experiment.updates, **kept},
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


def tic_tac_toe_figures(policy: TabularPolicy) -> dict[str, Any]:
    """Return how many games are lost against perfect play, and which share of all, exactly."""
    figures: dict[str, Any] = {}
    for name, is_greedy in (("drawn", False), ("greedy", True)):
        policy.is_greedy = is_greedy
        games = gem.run([policy, _Solver()], "game:TicTacToe-v0", episodes=GAMES, seed=1)
        own = [part for game in games for part in game.parts() if part.seats[0].policy_index == 0]
        figures[f"lost_{name}"] = sum(part.total_reward < 0 for part in own)
    policy.is_greedy = False
    figures["share_drawn"] = _share_lost(policy)
    return figures


def _share_lost(policy: TabularPolicy) -> float:
    """Return which share of games drawn actions lose against perfect play, the seats alike."""
    table = {}
    for board in _best_moves():
        request = Request((Message("user", _shown(board)),))
        shares = policy.probabilities(request)
        table[board] = {cell: shares.get(boxed(cell), 0.0) for cell in "012345678"}
    solver = from_table(
        {board: dict.fromkeys(best, 1 / len(best)) for board, best in _best_moves().items()}
    )
    own = from_table(table)
    graph = _tic_tac_toe()
    # Perfect play never loses, so what it earns is the share of games that it wins.
    return (graph.values([own, solver])[1] + graph.values([solver, own])[0]) / 2


MEASURES: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "kuhn": kuhn_figures,
    "tic_tac_toe": tic_tac_toe_figures,
}


class _Solver:
    """Plays perfectly: it draws among all moves that are worth most, so that games differ."""

    name = "perfect play"

    def __call__(self, request: Request) -> str:
        rows = re.findall(r"^[XO\d] [XO\d] [XO\d]$", request.messages[-1].text, re.MULTILINE)
        board = re.sub(r"\d", ".", "".join(rows[-3:]).replace(" ", ""))
        return boxed(random.Random(request.seed).choice(_best_moves()[board]))


def _shown(board: str) -> str:
    """Return a board as the environment shows it."""
    cells = [str(cell) if mark == "." else mark for cell, mark in enumerate(board)]
    return "\n".join(" ".join(cells[row : row + 3]) for row in (0, 3, 6))


@cache
def _tic_tac_toe() -> PositionGraph:
    return PositionGraph(TicTacToe())


@cache
def _best_moves() -> dict[str, list[str]]:
    """Return all moves that are worth most, for each board that is not at its end."""
    best: dict[str, list[str]] = {}
    values: dict[TicTacToe, float] = {}

    def value(position: TicTacToe) -> float:
        """Return what the first seat earns where both play perfectly."""
        if position.is_over:
            return position.returns()[0]
        if position not in values:
            seat = position.movers[0]
            sign = 1 if seat == 0 else -1
            worth = {cell: sign * value(position.after(cell)) for cell in position.legal(seat)}
            most = max(worth.values())
            best[position.known_to(seat)] = [cell for cell in worth if worth[cell] == most]
            values[position] = sign * most
        return values[position]

    value(TicTacToe())
    return best


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

    gem.run(noting, "game:KuhnPoker-v0", episodes=200)
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
            if row["kept"]["lost_greedy"]:
                problems.append(f"{_name(row)}: it loses to perfect play.")
    alone = [row for row in rows if row["game"] == "tic_tac_toe" and not row["monitor"]]
    num_degraded = sum(map(has_degraded, alone))
    if num_degraded < LEAST_DEGRADED:
        problems.append(f"Without the monitor {num_degraded} of {len(alone)} have degraded.")
    if len(rows) < len(ARMS):
        problems.append(f"{len(rows)} of {len(ARMS)} arms are done.")
    return problems


def has_degraded(row: Mapping[str, Any]) -> bool:
    """Say whether a training of TicTacToe keeps a policy that loses more than at its best look."""
    best = min(look["lost_drawn"] for look in row["looks"])
    return bool(row["kept"]["lost_drawn"] - best >= LEAST_LOSS)


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
    drawn = ", ".join(f"{look['share_drawn']:.1%}" for look in looks)
    greedy = ", ".join(str(look["lost_greedy"]) for look in looks)
    kept = row["kept"]
    went_back = f"; it went back after {row['went_back']}" if row["went_back"] else ""
    degraded = "degraded, " if has_degraded(row) else ""
    return (
        f"{_name(row)}, {row['cpu_s']} CPU s: {degraded}of {GAMES} games {greedy} lost by the most "
        f"probable actions, of drawn ones {drawn}; kept, of update {kept['update']}: "
        f"{kept['lost_greedy']}, drawn {kept['lost_drawn']} or {kept['share_drawn']:.1%}{went_back}"
    )


if __name__ == "__main__":
    sys.exit(main())
