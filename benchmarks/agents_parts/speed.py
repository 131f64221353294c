"""CPU time of a dialogue, and the memory of many at once."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from typing import Any

from benchmarks.agents_parts.folders import Folders, published

import gem
from gem import Env

__all__ = ["memory", "speed"]

ENV_ID = "agents:Service-v0"
TURNS = 12
AT_ONCE = 256

_CROWD = """
import resource, sys
import gem

def resident():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024

env_id, data, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3])
kwargs = {"data": data} if data else {}
gem.make(env_id, **kwargs).reset(seed=0)
before = resident()
envs = []
for seed in range(at_once):
    env = gem.make(env_id, **kwargs)
    env.reset(seed=seed)
    for _ in range(8):  # in the middle of the dialogue, most after a call that wrote
        if env.step(env.solve()).terminated:
            env.reset(seed=seed)
    envs.append(env)
print(resident(), before)
"""


def speed(folders: Folders, quick: bool) -> dict[str, Any]:
    """Return CPU milliseconds of dialogues of twelve turns, in medians and at worst."""
    # One environment solves and its twin is timed: what the first has made, the twin has not.
    pairs = [(ENV_ID, gem.make(ENV_ID), gem.make(ENV_ID))]
    twins = zip(published(folders), published(folders), strict=True)
    pairs += [(env_id, solving, timed) for (env_id, solving), (_, timed) in twins]
    count = 3 if quick else 40
    return {env_id: _dialogues(solving, timed, count) for env_id, solving, timed in pairs}


def _dialogues(solving: Env, env: Env, count: int) -> dict[str, float]:
    starts: list[float] = []
    dialogues: list[float] = []
    seed = 0
    while len(dialogues) < count and seed < 3_000:
        actions = _solution(solving, seed)
        if len(actions) == TURNS:
            since = time.process_time()
            env.reset(seed=seed)
            started = time.process_time()
            for action in actions:
                env.step(action)
            starts.append(1e3 * (started - since))
            dialogues.append(1e3 * (time.process_time() - started))
        seed += 1
    whole = [start + dialogue for start, dialogue in zip(starts, dialogues, strict=True)]
    return {
        "dialogues": len(dialogues),
        "turns": TURNS,
        "reset_ms": round(statistics.median(starts), 3),
        "turns_ms": round(statistics.median(dialogues), 3),
        "whole_ms": round(statistics.median(whole), 3),
        "worst_whole_ms": round(max(whole), 3),
    }


def _solution(env: Env, seed: int) -> list[str]:
    env.reset(seed=seed)
    actions = []
    while True:
        actions.append(str(env.solve()))
        step = env.step(actions[-1])
        if step.terminated or step.truncated:
            return actions


def memory(folders: Folders, quick: bool) -> dict[str, Any]:
    """Return the megabytes of a process with many dialogues under way, and those with one."""
    at_once = 8 if quick else AT_ONCE
    rows = {}
    for env_id, data in (
        (ENV_ID, ""),
        ("tau:Retail-2024", folders.retail),
        ("tau:Airline-2024", folders.airline),
    ):
        if data is None:
            continue
        command = [sys.executable, "-c", _CROWD, env_id, data, str(at_once)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        whole, first = (int(text) / 1e6 for text in done.stdout.split())
        rows[env_id] = {
            "at_once": at_once,
            "process_mb": round(whole, 1),
            "with_one_mb": round(first, 1),
            "kb_each": round((whole - first) * 1e3 / at_once, 1),
        }
    return rows
