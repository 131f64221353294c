"""Training folders as `gem-env train` leaves them, written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .conftest import episode, failed, write

EXPERIMENT = {
    "env": "tiny:Guess",
    "env_kwargs": {"highest": 15},
    "policy": "tabular",
    "estimator": "rebn",
    "gamma": 0.9,
    "updates": 4,
    "episodes": 8,
    "eval_episodes": 2,
    "seed": 0,
}


def metrics(update: int, **figures: Any) -> dict[str, Any]:
    """Return a line of metrics, with whatever is to be different."""
    line = {
        "update": update,
        "episodes": 8,
        "errors": 0,
        "success": 0.5,
        "reward": 0.25,
        "turns": 3.0,
        "discounted_return": 0.75,
        "total_turns": 24 * update,
        "learning": {"loss": -0.5, "entropy": 2.0},
    }
    return {**line, **figures}


def evaluation(update: int, success: float) -> dict[str, Any]:
    """Return the line of an evaluation whose two kinds of actions succeed as often."""
    figures = {"episodes": 2, "errors": 0, "success": success, "reward": success, "turns": 2.0}
    return {"update": update, "sampled": figures, "greedy": figures}


def append(path: Path, *lines: Mapping[str, Any]) -> None:
    """Add lines to a file."""
    with path.open("a", encoding="ascii") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in lines)


def written_again(folder: Path, **settings: Any) -> None:
    """Write the record of a training, as one that is made longer does."""
    record = {
        "format": 1,
        "command": ["gem-env", "train", "guess.toml"],
        "created": "2026-11-23T10:00:00+00:00",
        "versions": {"gem-baselines": "0.1.0"},
        "experiment": {**EXPERIMENT, **settings},
    }
    draft = folder / "experiment.json.draft"
    draft.write_text(json.dumps(record), encoding="utf-8")
    draft.replace(folder / "experiment.json")


def made(folder: Path, *lines: Mapping[str, Any], **settings: Any) -> Path:
    """Write a training with these lines of metrics, or with four, and two evaluations."""
    (folder / "evaluations").mkdir(parents=True)
    written_again(folder, **settings)
    append(folder / "metrics.jsonl", *(lines or [metrics(number) for number in range(1, 5)]))
    timings = [{"update": number, "cpu_s": 0.5} for number in range(1, 5)]
    append(folder / "timings.jsonl", *timings)
    append(folder / "evaluations.jsonl", evaluation(0, 0.0), evaluation(4, 1.0))
    for update in (0, 4):
        for mode in ("sampled", "greedy"):
            log = folder / "evaluations" / f"{update:06}-{mode}.jsonl"
            write(log, episode(policy="tabular"), failed(policy="tabular", episode_index=1))
    return folder
