"""Play the generated shop: what several tests of it do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gem
from gem import Env, Step
from gem_envs_agents.desk.actions import write_call
from gem_envs_agents.desk.case import Case
from gem_envs_agents.desk.tool import Call
from gem_envs_agents.service.environment import Service

Act = Callable[[list[str], list[str]], str]


def make(**kwargs: Any) -> Env:
    return gem.make("agents:Service-v0", **kwargs)


def case_of(env: Env) -> Case:
    base = env.unwrapped
    assert isinstance(base, Service)
    return base.case


def solved(env: Env, seed: int) -> Step:
    """Play the solution of a seed to its end."""
    env.reset(seed=seed)
    return to_the_end(env)


def to_the_end(env: Env) -> Step:
    while True:
        step = env.step(str(env.solve()))
        if step.terminated or step.truncated:
            return step


def acted(env: Env, seed: int, act: Act) -> Step:
    """Play a policy, a function of the observations and of what it did."""
    observation, _ = env.reset(seed=seed)
    observations = [str(observation)]
    own: list[str] = []
    while True:
        own.append(act(observations, own))
        step = env.step(own[-1])
        observations.append(str(step.observation))
        if step.terminated or step.truncated:
            return step


def write(call: Call) -> str:
    return write_call(call)
