"""Train by self-play, and hold what is learnt to exact play.

Run it with `python benchmarks/self_play.py [--processes N]`: about 70 CPU minutes. It may be killed
and run again: an arm that is done is in benchmarks/results/self_play.json and is not trained anew;
`--again` forgets them. `--summary` prints what is there and trains nothing.

- `kuhn`, three seeds: the exploitability of Kuhn poker, by its whole tree, of the policy of the
  last update, which is what the training keeps. It must be under 0.05 within 10 CPU minutes.
- `tic_tac_toe`, five seeds, each without the monitor ("alone"), with it ("monitor"), and with it
  but without settling ("unsettled"): how well the policy that the training would keep plays, by the
  whole tree, and at the end in 200 counted games against perfect play. `docs/self-play.md` says
  what it needs and what degraded means; `need_of` and `fall_of` are that in code. Every training
  must be three times as long as its own need at least. Of those alone at least three must degrade,
  with the monitor none, and none with it may lose a game by its most probable actions.
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
from gem_baselines.learning_policy import LearningPolicy
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
LEAST_FALL = 0.05  # of what the best opponent earns by game, for a training that has degraded
LEAST_DEGRADED = 3  # of the trainings without the monitor
LEAST_LENGTH = 3  # times the updates that a training needs
MOST_EXPLOITABILITY = 0.05
MOST_CPU_S = 600
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "alone": {"monitor": False},
    "monitor": {},
    "unsettled": {"slow_down": 1.0, "settle_half_life": None},
}
"""What each arm changes in the table `[self_play]` of its experiment."""
Arm = tuple[str, str, int]
"""The game, what is changed, and the seed."""
ARMS: tuple[Arm, ...] = (
    *(("kuhn", "alone", seed) for seed in range(3)),
    *(("tic_tac_toe", change, seed) for change in CHANGES for seed in range(5)),
)
WAYS = ("drawn", "greedy")
"""How a policy is played: its actions drawn, which it learnt from, or the most probable ones."""


def main() -> int:
    """Train the arms that are not done, and say what was reached."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=1, metavar="N")
    parser.add_argument("--again", action="store_true", help="train all arms anew")
    parser.add_argument("--summary", action="store_true", help="train nothing")
    parser.add_argument("--tables", action="store_true", help="print the page's, train nothing")
    options = parser.parse_args()
    rows = [] if options.again or not RESULTS.is_file() else json.loads(RESULTS.read_text())
    if options.tables:
        print(page_tables(rows))
        return 0
    done = {_arm_of(row) for row in rows}
    left = [] if options.summary else [arm for arm in ARMS if arm not in done]
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, spawning) as pool:
        for future in as_completed([pool.submit(trained, arm) for arm in left]):
            rows.append(future.result())
            _keep(sorted(rows, key=lambda row: ARMS.index(_arm_of(row))))
            print(_line(rows[-1]), flush=True)
    if not left:
        print("\n".join(map(_line, rows)))
    problems = missed(rows)
    print("\n".join(problems) or "All is reached.")
    return 1 if problems else 0


def trained(arm: Arm) -> dict[str, Any]:
    """Train one arm, and return how good it was on the way and at its end."""
    game, change, seed = arm
    settings = read_experiment(str(EXPERIMENTS / f"{game}_self_play.toml"))
    changed = {**settings["self_play"], **CHANGES[change]}
    settings["self_play"] = {name: value for name, value in changed.items() if value is not None}
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
                looks.append({"update": figures["update"], **_seen(game, training)})
                looked_s += time.process_time() - began_s

        training.run(look)
        went_back = [] if training.self_play is None else training.self_play.went_back
        kept_update = training.progress.best_update
        began_s = time.process_time()
        # What `baseline:PATH` plays: the best policy that the monitor knows, without it the last.
        kept = load(str(training.folder.path))
        kept_figures = MEASURES[game](kept)
        if game == "tic_tac_toe":
            kept_figures |= counted_games(kept)
        looked_s += time.process_time() - began_s
    cpu_s = time.process_time() - since_s - looked_s
    return {
        "game": game,
        "arm": change,
        "seed": seed,
        "updates": experiment.updates,
        "games": experiment.updates * experiment.episodes,
        "cpu_s": round(cpu_s, 1),
        "went_back": went_back,
        "looks": looks,
        "kept": {"update": kept_update or experiment.updates, **kept_figures},
    }


def _seen(game: str, training: Training) -> dict[str, Any]:
    """Return the figures of the policy that learns and, if another one is kept, of that one."""
    figures = MEASURES[game](training.policy)
    self_play = training.self_play
    best = None if self_play is None else self_play.best_update
    if self_play is None or best is None:
        return figures
    kept = self_play.pool.of_update(best).policy
    return {**figures, "kept": {"update": best, **MEASURES[game](kept)}}


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
    """Return how a policy plays TicTacToe, exactly, both seats alike, in both ways of playing it.

    `best_*` is what the best opponent earns by game, one that knows the policy: 0 where nobody can
    beat it. `share_*` is the share of games that are lost to perfect play.
    """
    graph = _tic_tac_toe()
    solver = from_table(
        {board: dict.fromkeys(best, 1 / len(best)) for board, best in _best_moves().items()}
    )
    figures = {}
    for way in WAYS:
        own = from_table(_table_of(policy, way))
        best = [graph.best_response([own, own], seat)[0] for seat in range(2)]
        figures[f"best_{way}"] = sum(best) / 2
        # Perfect play never loses, so what it earns is the share of games that it wins.
        lost = graph.values([own, solver])[1] + graph.values([solver, own])[0]
        figures[f"share_{way}"] = lost / 2
    return figures


def _table_of(policy: TabularPolicy, way: str) -> dict[str, dict[str, float]]:
    """Return what a policy plays on each board, as the tree names boards and cells."""
    table = {}
    for board in _best_moves():
        request = Request((Message("user", _shown(board)),))
        shares = policy.probabilities(request)
        if way == "greedy":
            policy.is_greedy = True
            shares = {policy(request): 1.0}
            policy.is_greedy = False
        table[board] = {cell: shares.get(boxed(cell), 0.0) for cell in "012345678"}
    return table


def counted_games(policy: LearningPolicy) -> dict[str, int]:
    """Return how many of 200 games of TicTacToe a policy loses to perfect play, in both ways."""
    figures = {}
    for way in WAYS:
        policy.is_greedy = way == "greedy"
        games = gem.run([policy, _Solver()], "game:TicTacToe-v0", episodes=GAMES, seed=1)
        own = [part for game in games for part in game.parts() if part.seats[0].policy_index == 0]
        figures[f"lost_{way}"] = sum(part.total_reward < 0 for part in own)
    policy.is_greedy = False
    return figures


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
            continue
        if not is_long_enough(row):
            problems.append(f"{_name(row)}: {row['updates']} updates, it needs {need_of(row)}.")
        if row["arm"] == "monitor":
            if max(fall_of(row).values()) >= LEAST_FALL:
                problems.append(f"{_name(row)}: it has degraded.")
            if row["kept"]["lost_greedy"]:
                problems.append(f"{_name(row)}: it loses to perfect play.")
    alone = [row for row in rows if row["game"] == "tic_tac_toe" and row["arm"] == "alone"]
    num_degraded = sum(map(has_degraded, alone))
    if num_degraded < LEAST_DEGRADED:
        problems.append(f"Without the monitor {num_degraded} of {len(alone)} have degraded.")
    if len(rows) < len(ARMS):
        problems.append(f"{len(rows)} of {len(ARMS)} arms are done.")
    return problems


def need_of(row: Mapping[str, Any]) -> int | None:
    """Return the updates that a training of TicTacToe needs; None where they did not suffice.

    It is the first look at which nobody can beat the most probable actions of the policy that
    learns.
    """
    unbeaten = [look["update"] for look in row["looks"] if look["best_greedy"] == 0]
    return unbeaten[0] if unbeaten else None


def is_long_enough(row: Mapping[str, Any]) -> bool:
    """Say whether a training of TicTacToe went on for three times as long as it needed."""
    need = need_of(row)
    return need is not None and row["updates"] >= LEAST_LENGTH * need


def late_of(row: Mapping[str, Any]) -> dict[str, float]:
    """Return what the best opponent earns in the end, by way of playing.

    The mean over the looks of the last third, of the policy that would have been kept.
    """
    late = [look for look in row["looks"] if look["update"] > row["updates"] * 2 / 3]
    found = {}
    for way in WAYS:
        earned = [look.get("kept", look)[f"best_{way}"] for look in late]
        found[way] = sum(earned) / len(earned)
    return found


def fall_of(row: Mapping[str, Any]) -> dict[str, float]:
    """Return how much more the best opponent earns in the end than at the need, by way of playing.

    Without a need nothing has been learnt that could be unlearnt.
    """
    need = need_of(row)
    if need is None:
        return dict.fromkeys(WAYS, 0.0)
    [then] = [look for look in row["looks"] if look["update"] == need]
    late = late_of(row)
    return {way: late[way] - then[f"best_{way}"] for way in WAYS}


def has_degraded(row: Mapping[str, Any]) -> bool:
    """Say whether a training of TicTacToe has degraded: in both ways of playing its policy."""
    return min(fall_of(row).values()) >= LEAST_FALL


def page_tables(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the tables of TicTacToe as `docs/self-play.md` has them."""
    played = [row for row in rows if row["game"] == "tic_tac_toe"]
    verdicts = [
        "| arm | trainings | long enough | fall by drawn actions | fall by the most probable "
        "| degraded | lose one of 200 games by the most probable |",
        "|---|---|---|---|---|---|---|",
    ]
    for change in CHANGES:
        own = [row for row in played if row["arm"] == change]
        counts = [
            sum(map(is_long_enough, own)),
            *(sum(fall_of(row)[way] >= LEAST_FALL for row in own) for way in WAYS),
            sum(map(has_degraded, own)),
            sum(row["kept"]["lost_greedy"] > 0 for row in own),
        ]
        if own:
            cells = " | ".join(map(str, [change, len(own), *counts]))
            verdicts.append(f"| {cells} |")
    trainings = [
        "| arm | seed | needs | best opponent at the need | over the last third | of what is kept "
        "| lost to perfect play | games lost of 200 | went back after | CPU s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in played:
        need = need_of(row)
        kept = row["kept"]
        late = late_of(row)
        then = [look for look in row["looks"] if look["update"] == need]
        cells = " | ".join(
            [
                f"{row['arm']} | {row['seed']} | {need or 'more'}",
                " / ".join(f"{then[0][f'best_{way}']:.2f}" for way in WAYS) if then else "-",
                " / ".join(f"{late[way]:.2f}" for way in WAYS),
                " / ".join(f"{kept[f'best_{way}']:.2f}" for way in WAYS),
                " / ".join(f"{kept[f'share_{way}']:.1%}" for way in WAYS),
                " / ".join(str(kept[f"lost_{way}"]) for way in WAYS),
                ", ".join(map(str, row["went_back"])) or "-",
                f"{row['cpu_s']:.0f}",
            ]
        )
        trainings.append(f"| {cells} |")
    return "\n".join([*verdicts, "", *trainings])


def _keep(rows: Sequence[Mapping[str, Any]]) -> None:
    draft = RESULTS.with_suffix(".draft")
    draft.write_text(json.dumps(rows, indent=1) + "\n", encoding="ascii")
    draft.replace(RESULTS)


def _arm_of(row: Mapping[str, Any]) -> Arm:
    return row["game"], row["arm"], row["seed"]


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['game']}, {row['arm']}, seed {row['seed']}"


def _line(row: Mapping[str, Any]) -> str:
    looks = row["looks"]
    if row["game"] == "kuhn":
        course = ", ".join(f"{look['exploitability']:.3f}" for look in looks)
        return f"{_name(row)}, {row['cpu_s']} CPU s: exploitability {course}"
    lines = [f"{_name(row)}, {row['cpu_s']} CPU s: it needs {need_of(row)} of {row['updates']}"]
    for way in WAYS:
        course = " ".join(f"{look[f'best_{way}']:.2f}" for look in looks)
        kept = row["kept"]
        lines.append(
            f"  {way}: the best opponent earns {course}; kept, of update {kept['update']}: "
            f"{kept[f'best_{way}']:.3f}, lost to perfect play {kept[f'share_{way}']:.1%}, "
            f"{kept[f'lost_{way}']} of {GAMES} games; fall {fall_of(row)[way]:+.3f}"
        )
    lines.append(f"  degraded: {has_degraded(row)}; it went back after {row['went_back']}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
