"""The proof of the scripted users: generated tasks, published ones, and planted faults."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from benchmarks.agents_parts.folders import Folders, published

from gem_envs_agents.service.tasks import Difficulty, case
from gem_envs_agents.service.wording import WORDINGS
from gem_envs_agents.tau.environment import Tau
from gem_envs_agents.users.proving import prove
from gem_envs_agents.users.script import Script

__all__ = ["proof"]

GENERATED = 500
LEVELS: tuple[Difficulty, ...] = get_args(Difficulty)
PLANTED = Path(__file__).parents[2] / "gem-envs-agents" / "tests" / "users" / "test_proving.py"


def proof(folders: Folders, quick: bool) -> dict[str, Any]:
    """Return what the prover looked at and found, and the CPU seconds that it took."""
    count = 3 if quick else GENERATED
    rows = {
        f"agents:Service-v0, {count} tasks": _proved(
            case(seed, LEVELS[seed % 3], seed % WORDINGS).script for seed in range(count)
        )
    }
    for env_id, env in published(folders):
        base = env.unwrapped
        assert isinstance(base, Tau)
        tasks = 3 if quick else len(base.published.tasks)
        rows[env_id] = _proved(base.published.case(number).script for number in range(tasks))
    return {**rows, "planted faults": _planted()}


def _proved(scripts: Iterable[Script]) -> dict[str, Any]:
    since = time.process_time()
    proofs = [prove(script) for script in scripts]
    # What was not looked at is not proved: no figure stands for a part.
    if not all(each.is_complete for each in proofs):
        raise SystemExit("a proof is incomplete: it met more states than it looks at")
    return {
        "tasks": len(proofs),
        "states": sum(each.states for each in proofs),
        "transitions": sum(each.transitions for each in proofs),
        "faults": sum(len(each.faults) for each in proofs),
        "cpu_s": round(time.process_time() - since, 1),
    }


def _planted() -> dict[str, int]:
    """Run the tests that plant a fault each: one that passes is a fault that was found."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(PLANTED)]
    chosen = ["-n", "0", "-k", "script_is_found or automaton_is_found"]
    done = subprocess.run(
        [*command, *chosen], capture_output=True, text=True, check=False, env={**os.environ}
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    failed = re.search(r"(\d+) failed", done.stdout)
    found = int(passed[1]) if passed else 0
    return {"planted": found + (int(failed[1]) if failed else 0), "found": found}
