"""Run many episodes at once: planned, played, recorded, with figures and progress.

What a program that runs episodes needs besides `gem.rollout` is at this door: its options, checked,
a plan of episodes, statistics, and the last try of each episode in a log. Imports the rooms of
hosts, records and environments; knows nothing about where policies come from.
"""

from __future__ import annotations

from gem._python.quantities import check_count
from gem.episode._log import read_last_tries
from gem.registry._making import EnvLike, WrapperLike, make_policy, resolve
from gem.rollouts._mixtures import Component
from gem.rollouts._options import RolloutOptions, RunKeywords, unknown_option
from gem.rollouts._planning import PlannedEpisode, plan_episodes
from gem.rollouts._progress import Progress
from gem.rollouts._rollout import Rollout, check_rollout, count_tasks, rollout, seats_of
from gem.rollouts._stats import RolloutStats

__all__ = [
    "Component",
    "EnvLike",
    "PlannedEpisode",
    "Progress",
    "Rollout",
    "RolloutOptions",
    "RolloutStats",
    "RunKeywords",
    "WrapperLike",
    "check_count",
    "check_rollout",
    "count_tasks",
    "make_policy",
    "plan_episodes",
    "read_last_tries",
    "resolve",
    "rollout",
    "seats_of",
    "unknown_option",
]
