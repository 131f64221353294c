"""A desk whose agent, user and judge draw by known chances, so that its noise is known exactly.

A task that the agent is able to do is won where the agent does not give up, the user does not
leave, and the judge lets it pass. All of this is drawn independently, so that the variance of a
score and each of its parts is a product of these chances.
"""

from __future__ import annotations

import random
from hashlib import blake2b
from typing import Any

from benchmarks.agents_parts.folders import Folders

import gem
import gem_eval
from gem.conversation import Request
from gem_envs_agents.desk.do_nothing import LEAVING
from gem_envs_agents.service.environment import ServiceOfTwo
from gem_envs_agents.users.automaton import STOP

__all__ = ["ABLE", "FAITHFUL", "LENIENT", "STEADY", "Judged", "agent", "noise", "truth", "user"]

ABLE = 0.8  # of the tasks, which the agent can do at all
STEADY = 0.9  # of its seeds, with which it does not give up
FAITHFUL = 0.6  # of the user's seeds, with which the user does not leave at once
LENIENT = 0.9  # of the gradings of what was won, which let it pass

_JUDGE = "environment (judge)"


class Judged(ServiceOfTwo):
    """The generated shop with two seats, whose judge does not see every success."""

    verdicts = random.Random(0)  # no seed of an episode decides a verdict

    def end(self, rewards: Any = None, *, success: Any = None, **facts: Any) -> gem.Step:
        """End the dialogue; what was earned counts where the judge lets it pass."""
        passed = self.verdicts.random() < LENIENT
        if rewards is not None and not passed:
            rewards = (0.0,) * len(self.seats)
        return super().end(rewards, success=bool(success) and passed, **facts)


def agent(request: Request) -> str:
    """Serve by the solution, unless the task is too hard, or this seed gives up."""
    own = [message.text for message in request.messages if message.role == "assistant"]
    if own:
        gives_up = own[0] == LEAVING
    else:
        gives_up = _is_hard(request) or random.Random(request.seed).random() >= STEADY
    return LEAVING if gives_up else str(request.solution)


def user(request: Request) -> str:
    """Be the scripted customer, unless this seed leaves at once."""
    leaves = request.turn == 0 and random.Random(request.seed).random() >= FAITHFUL
    return STOP if leaves else str(request.solution)


agent.wants = user.wants = frozenset({"solution"})  # type: ignore[attr-defined]


def _is_hard(request: Request) -> bool:
    """Say whether a task is none that the agent can do: a matter of its first words alone."""
    words = "\n".join(message.text for message in request.messages)
    digest = blake2b(words.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64 >= ABLE


def truth() -> dict[str, float]:
    """Return the variance of a score by each source: that of a product of independent draws."""
    passed = LENIENT
    both = STEADY * FAITHFUL
    of_agent = STEADY * (1 - STEADY) * (FAITHFUL * passed) ** 2
    of_user = FAITHFUL * (1 - FAITHFUL) * (STEADY * passed) ** 2
    of_pairs = both * (1 - both) * passed**2
    return {
        "tasks": ABLE * (1 - ABLE) * (both * passed) ** 2,
        "agent": ABLE * of_agent,
        "user": ABLE * of_user,
        "agent x user": ABLE * (of_pairs - of_agent - of_user),
        _JUDGE: ABLE * both * passed * (1 - passed),
    }


def noise(folders: Folders, quick: bool) -> dict[str, Any]:
    """Return what one run of many tasks finds beside the truth, and how often intervals hold."""
    true = truth()
    tasks = 4 if quick else 200
    found = _split(tasks, seed=0)
    sources = {
        name: {
            "true": round(_points(true[name], tasks), 3),
            "found": round(part.points, 3),
            "ci95": None if part.points_ci95 is None else [round(x, 3) for x in part.points_ci95],
        }
        for name, part in found.sources()
    }
    return {
        "tasks": tasks,
        "agents": found.agents,
        "users": found.users,
        "judges": found.judges,
        "true_mean": round(ABLE * STEADY * FAITHFUL * LENIENT, 3),
        "mean": round(found.mean, 3),
        "points": sources,
        "leader": found.leader,
        "coverage": _coverage(true, runs=2 if quick else 60, tasks=4 if quick else 20),
    }


def _split(tasks: int, seed: int) -> gem_eval.Noise:
    players = {"agent": agent, "user": user}
    kwargs = {"difficulty": "easy"}
    return gem_eval.noise(Judged, players, episodes=tasks, seed=seed, env_kwargs=kwargs)


def _coverage(true: dict[str, float], runs: int, tasks: int) -> dict[str, Any]:
    """Return how many intervals of smaller runs hold the truth, by source."""
    held = dict.fromkeys(true, 0)
    leaders = 0
    for number in range(runs):
        found = _split(tasks, seed=1_000 + number)
        leaders += found.leader == "user"
        for name, part in found.sources():
            if part.variance_ci95 is not None:
                low, high = part.variance_ci95
                held[name] += low <= true[name] <= high
    return {"runs": runs, "tasks": tasks, "user_dominates": leaders, "held": held}


def _points(variance: float, tasks: int) -> float:
    """Return the standard deviation of a mean of so many scores, in hundredths."""
    return 100.0 * float((variance / tasks) ** 0.5)
