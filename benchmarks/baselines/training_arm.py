"""Train one arm, and say in one line of plain data what came of it."""

from __future__ import annotations

import json
import platform
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.baselines.arms import Arm
from benchmarks.baselines.code import code_of

import gem
from gem.episode import Episode
from gem_baselines.doctor import diagnosed, open_run
from gem_baselines.errors import TrainingStopped
from gem_baselines.training import train
from gem_baselines.training.figures import figures_of
from gem_baselines.training.training import Training, run_seed

__all__ = ["FINAL_EPISODES", "figures", "made_by", "trained"]

FINAL_EPISODES = 200
"""Episodes of the last evaluation, drawn and as many greedy, from seeds that no update plays."""
FIGURES = ("success", "reward", "turns", "discounted_return")


def trained(arm: Arm) -> dict[str, Any]:
    """Train an arm in a folder that is thrown away, and return its line.

    A training that stops by itself, because its policy diverged, has `stopped` in place of figures.
    """
    began_s = time.process_time()
    wall_began_s = time.monotonic()  # a program in the sandbox is no CPU time of this process
    line: dict[str, Any] = {
        "task": arm.task,
        "arm": arm.name,
        "seed": arm.seed,
        "digest": arm.digest,
    }
    with tempfile.TemporaryDirectory() as folder:
        try:
            training = train(arm.settings, Path(folder, "training"))
        except TrainingStopped as error:
            line["stopped"] = str(error)
        else:
            line |= _learnt(training, arm)
    line["cpu_s"] = round(time.process_time() - began_s, 1)
    line["wall_s"] = round(time.monotonic() - wall_began_s, 1)
    return {**line, **made_by(arm)}


def made_by(arm: Arm) -> dict[str, str]:
    """Return what makes an arm's figures here, beside its settings.

    With the same machine, torch and code they are the same, bit for bit.
    """
    return {
        "machine": _machine(),
        "torch": version("torch"),
        "code": code_of(arm),
        "commit": _commit(),
    }


def _learnt(training: Training, arm: Arm) -> dict[str, Any]:
    seconds = 0.0
    seconds_of = {0: 0.0}
    for timing in _timings(training.folder.path):
        seconds += timing["cpu_s"]
        seconds_of[timing["update"]] = seconds
    turns_of = {0: 0} | {line["update"]: line["total_turns"] for line in training.folder.metrics}
    curve = [
        {
            "update": evaluation["update"],
            "total_turns": turns_of[evaluation["update"]],
            "cpu_s": round(seconds_of[evaluation["update"]], 2),
            "drawn": _rounded(evaluation["sampled"]),
            "greedy": _rounded(evaluation["greedy"]),
        }
        for evaluation in training.folder.evaluations
    ]
    metrics = training.folder.metrics
    return {
        "curve": curve,
        "final": _played(training, arm, arm.settings.model_dump(), "final"),
        "also_on": {
            name: _played(training, arm, environment, name)
            for name, environment in arm.also_on.items()
        },
        "doctor": _doctor(training.folder.path),
        "errors": sum(metric["errors"] for metric in metrics),
        "entropy": [round(metrics[place]["learning"]["entropy"], 3) for place in (0, -1)],
    }


def _doctor(folder: Path) -> list[str]:
    """Return what the doctor says of a training; nothing if all is well."""
    findings = diagnosed(open_run(folder)).findings
    return [f"{finding.check}: {finding.sentence}" for finding in findings]


def _timings(folder: Path) -> Iterator[Mapping[str, Any]]:
    with (folder / "timings.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _played(
    training: Training, arm: Arm, environment: Mapping[str, Any], purpose: str
) -> dict[str, Any]:
    """Play an environment with the policy as it is after its last update."""
    seed = run_seed(arm.seed, f"benchmark {purpose}")
    changes = {
        "env_kwargs": environment.get("env_kwargs", {}),
        "wrappers": list(environment.get("wrappers", ())),
    }
    there = arm.settings.model_copy(update=changes)
    options = there.options(episodes=FINAL_EPISODES, seed=seed)
    played: dict[str, Any] = {}
    for mode in ("drawn", "greedy"):
        training.policy.is_greedy = mode == "greedy"
        episodes = gem.run(training.policy, environment["env"], options=options)
        played[mode] = figures(episodes, gamma=arm.settings.gamma)
    training.policy.is_greedy = False
    return played


def figures(episodes: Sequence[Episode], *, gamma: float) -> dict[str, float]:
    """Return the means of episodes, rounded, and the share of them in which a tool was called."""
    whole = [episode for episode in episodes if not episode.is_error]
    # A call that is written within the text is no `tool_calls` of a turn, and has its result.
    called = sum(any(turn.tool_results for turn in episode.turns) for episode in whole)
    return {
        **_rounded(figures_of(whole, gamma)),
        "episodes": len(whole),
        "tool_share": round(called / len(whole), 4),
    }


def _rounded(means: Mapping[str, float]) -> dict[str, float]:
    return {name: round(means[name], 4) for name in FIGURES}


@cache
def _machine() -> str:
    model = platform.machine()
    for text in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if text.startswith("model name"):
            model = text.partition(":")[2].strip()
            break
    return f"{model}, Python {platform.python_version()}"


@cache
def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=10", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
