"""Play every task with its solver and at random: what a trained policy is measured against.

Run it with `python benchmarks/baselines/references.py`. It writes results/references.json and takes
a few minutes. Of each task it plays 200 episodes, always the same.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# The parts are modules.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.baselines.arms import EXPERIMENTS, read, tasks
from benchmarks.baselines.training_arm import figures

import gem

__all__ = ["PATH", "references", "setting_of"]

PATH = Path(__file__).parent / "results" / "references.json"
EPISODES = 200
POLICIES = ("random", "solver")


def references() -> dict[str, Any]:
    """Return what was played: by task, then by policy."""
    if not PATH.exists():
        return {}
    found: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Play what is not yet there, and keep it task by task."""
    found = references()
    every = tasks()
    for name in dict.fromkeys(task for each in EXPERIMENTS for task in read(each)["tasks"]):
        task = every[name]
        setting = setting_of(task)
        if found.get(name, {}).get("setting") == setting:
            continue
        found[name] = {"setting": setting}
        for policy in POLICIES:
            found[name][policy] = played(policy, setting)
        text = json.dumps(found, indent=1, sort_keys=True) + "\n"
        PATH.parent.mkdir(exist_ok=True)
        PATH.write_text(text, encoding="utf-8")
        print(name, {policy: found[name][policy]["reward"] for policy in POLICIES}, flush=True)


def setting_of(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a reference is of: where it changes, it is played again."""
    setting = {"env": task["env"], "env_kwargs": task.get("env_kwargs", {})}
    if "wrappers" in task:
        setting["wrappers"] = task["wrappers"]
    return setting


def played(policy: str, setting: dict[str, Any]) -> dict[str, Any]:
    """Play a task, and return the figures of its episodes."""
    began_s = time.process_time()
    episodes = gem.run(
        policy,
        setting["env"],
        episodes=EPISODES,
        seed=7,
        env_kwargs=setting["env_kwargs"],
        wrappers=setting.get("wrappers", ()),
    )
    return {**figures(episodes, gamma=0.9), "cpu_s": round(time.process_time() - began_s, 1)}


if __name__ == "__main__":
    main()
