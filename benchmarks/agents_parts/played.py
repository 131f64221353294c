"""What policies earn: the solution in every wording, the first reading, and the references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from benchmarks.agents_parts.folders import Folders, published

import gem
from gem import Env
from gem_envs_agents.desk.do_nothing import LEAVING
from gem_envs_agents.service.first_reading import next_reading
from gem_envs_agents.service.sensitivity import phrase_sensitivity
from gem_envs_agents.service.tasks import Difficulty, case
from gem_envs_agents.service.wording import WORDINGS

__all__ = ["references", "solution", "tasks", "wordings"]

ENV_ID = "agents:Service-v0"
LEVELS: tuple[Difficulty, ...] = get_args(Difficulty)
Act = Callable[[Env, list[str], list[str]], str]
"""The next action, from the environment, the observations so far and its own actions."""


def _solving(env: Env, observations: list[str], own: list[str]) -> str:
    return str(env.solve())


def _reading(env: Env, observations: list[str], own: list[str]) -> str:
    return next_reading(observations, own)


def _leaving(env: Env, observations: list[str], own: list[str]) -> str:
    return LEAVING


def _drawing(env: Env, observations: list[str], own: list[str]) -> str:
    return env.sample_action()


def _earned(env: Env, act: Act, **start: Any) -> float:
    observation, _ = env.reset(**start)
    observations = [str(observation)]
    own: list[str] = []
    while True:
        own.append(act(env, observations, own))
        step = env.step(own[-1])
        observations.append(str(step.observation))
        if step.terminated or step.truncated:
            return step.reward


def solution(folders: Folders, quick: bool) -> dict[str, Any]:
    """Return how often the solution earned 1.0, in every wording of every seed."""
    seeds = 3 if quick else 500
    rewards = []
    for wording in range(WORDINGS):
        env = gem.make(ENV_ID, difficulty="hard", wording=wording)
        rewards += [_earned(env, _solving, seed=seed) for seed in range(seeds)]
    return {"seeds": seeds, "wordings": WORDINGS, "played": len(rewards), "solved": sum(rewards)}


def wordings(folders: Folders, quick: bool) -> dict[str, Any]:
    """Return the phrase sensitivity of who takes the first reading, and of who asks."""
    seeds = range(2 if quick else 100)
    figures: dict[str, Any] = {"tasks": len(seeds), "wordings": WORDINGS}
    for name, act in (("first-reading", _reading), ("solver", _solving)):
        scores = {}
        for wording in range(WORDINGS):
            env = gem.make(ENV_ID, difficulty="hard", wording=wording)
            scores[wording] = [_earned(env, act, seed=seed) for seed in seeds]
        figures[name] = {
            field: round(value, 3) for field, value in phrase_sensitivity(scores)._asdict().items()
        }
    return figures


def tasks(folders: Folders, quick: bool) -> dict[str, Any]:
    """Return how many generated tasks are pairwise different."""
    count = 30 if quick else 1_000
    made = [case(seed, LEVELS[seed % 3], seed % WORDINGS) for seed in range(count)]
    return {
        "tasks": count,
        "different_customers": len({str(task.script.identity) for task in made}),
        "different_tasks": len(
            {(task.script.requests[0].wording, task.goal.state) for task in made}
        ),
    }


def references(folders: Folders, quick: bool) -> dict[str, Any]:
    """Return how many tasks doing nothing, chance and the solution win, of every set."""
    generated = [(ENV_ID, gem.make(ENV_ID), [{"seed": seed} for seed in range(200)])]
    every: list[tuple[str, Env, list[dict[str, int]]]] = [
        *generated,
        *(
            (env_id, env, [{"seed": 1, "task": task} for task in range(env.num_tasks or 0)])
            for env_id, env in published(folders)
        ),
    ]
    rows = {}
    for env_id, env, starts in every:
        chosen = starts[:3] if quick else starts
        rows[env_id] = {"tasks": len(chosen)} | {
            name: sum(_earned(env, act, **start) for start in chosen)
            for name, act in (
                ("do-nothing", _leaving),
                ("random", _drawing),
                ("solver", _solving),
            )
        }
    return rows
