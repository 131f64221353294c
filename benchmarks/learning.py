"""Train small policies, and hold them to what learning has to reach.

Run it with `python benchmarks/learning.py [--processes N]`: about a minute and a half on two
cores, which `nox -s baselines-smoke` does. A table has to come within 0.1 turns of the optimum of
GuessTheNumber from 1 to 10, which is 2.90. The small transformer has to need at least 0.3 turns
fewer with Return Batch Normalisation than with raw REINFORCE, with each of two seeds that both
share: weights, episodes and steps are alike but for the advantages. It prints a line a training,
writes benchmarks/results/learning.json, and exits with status 1 where something is not reached.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from gem_baselines.training import Experiment, train
from gem_baselines.training.experiment import read_experiment

RESULTS = Path(__file__).parent / "results" / "learning.json"
EXPERIMENTS = Path(__file__).parents[1] / "examples" / "experiments"
TABLE = "guess_the_number"
TRANSFORMER = "guess_the_number_transformer"
UPDATES = {TABLE: 200, TRANSFORMER: 400}
OPTIMUM = 2.9
SEEDS = (0, 1)
EPISODES = 1_000  # that a trained policy plays, drawing its actions


def main() -> int:
    """Train all, and say what was reached."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=os.cpu_count(), metavar="N")
    processes = parser.parse_args().processes
    arms = [(TABLE, "rebn", seed) for seed in SEEDS]
    arms += [(TRANSFORMER, estimator, seed) for seed in SEEDS for estimator in ("raw", "rebn")]
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, spawning) as pool:
        rows = list(pool.map(turns_of, arms))
    for row in rows:
        print(
            f"{row['experiment']:30}{row['estimator']:6}seed {row['seed']}: "
            f"{row['turns']:.2f} turns, {row['cpu_s']:.0f} CPU s"
        )
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    problems = missed(rows)
    print("\n".join(problems) or "All is reached.")
    return 1 if problems else 0


def turns_of(arm: tuple[str, str, int]) -> dict[str, Any]:
    """Train one arm, and return how many turns it then takes on average, on seeds held out."""
    name, estimator, seed = arm
    since = time.process_time()
    settings = read_experiment(str(EXPERIMENTS / f"{name}.toml"))
    updates = UPDATES[name]
    measuring = {"updates": updates, "eval_every": updates, "eval_episodes": EPISODES}
    experiment = Experiment(**{**settings, **measuring, "estimator": estimator, "seed": seed})
    with tempfile.TemporaryDirectory() as folder:
        *_, evaluation = train(experiment, Path(folder, "run")).folder.evaluations
    turns = evaluation["sampled"]["turns"]
    return {
        "experiment": name,
        "estimator": estimator,
        "seed": seed,
        "turns": turns,
        "cpu_s": round(time.process_time() - since, 1),
    }


def missed(rows: list[dict[str, Any]]) -> list[str]:
    """Say what was not reached."""
    turns = {(row["experiment"], row["estimator"], row["seed"]): row["turns"] for row in rows}
    problems = []
    for seed in SEEDS:
        table = turns[TABLE, "rebn", seed]
        if abs(table - OPTIMUM) > 0.1:
            problems.append(f"Seed {seed}: the table needs {table:.2f} turns, not 2.90 +- 0.1.")
        ahead = turns[TRANSFORMER, "raw", seed] - turns[TRANSFORMER, "rebn", seed]
        if ahead < 0.3:
            problems.append(f"Seed {seed}: ReBN is {ahead:.2f} turns ahead of raw, not 0.3.")
    return problems


if __name__ == "__main__":
    sys.exit(main())
