"""`gem.utils.debug`, as in gem-llm: play an episode and print every step of it."""

from __future__ import annotations

import inspect
import random
import time
from collections.abc import Callable
from pprint import pprint
from typing import TYPE_CHECKING, Any

from gem.env._env import Env

if TYPE_CHECKING:
    from gem.vector._base import VectorEnv

__all__ = [
    "ppprint",
    "run_and_print_episode",
    "run_and_print_episode_async",
    "run_and_print_episode_with_selective_step",
]

_LINE = "=" * 30
_MOST = 10**9  # steps: no limit, as gem-llm wrote it


def ppprint(x: object) -> None:
    """Print a value over several lines."""
    pprint(x)  # noqa: T203 - what it is for


def run_and_print_episode(
    env: Env, policy: Callable[[Any], Any], ignore_done: bool = False, max_steps: int = _MOST
) -> None:
    """Play an episode of `policy`, from an observation to an action, and print each step.

    With `ignore_done` another episode follows, until there were `max_steps` steps.
    """
    begun = time.perf_counter()
    observation: Any = env.reset()[0]
    for number in range(1, int(max_steps) + 1):
        action = policy(observation)
        _print_head(number, observation=observation, action=action)
        observation, is_over = _stepped(env, action)
        if is_over and not ignore_done:
            break
        if is_over:
            observation = env.reset()[0]
    _print_time(begun)


async def run_and_print_episode_async(
    env: Env | VectorEnv,
    policy: Callable[[Any], Any],
    ignore_done: bool = False,
    max_steps: int = _MOST,
) -> None:
    """Do the same with a policy that may be a coroutine function, or with a vector."""
    begun = time.perf_counter()
    observation: Any = env.reset()[0]
    for number in range(1, int(max_steps) + 1):
        action = policy(observation)
        if inspect.isawaitable(action):
            action = await action
        _print_head(number, observation=observation, action=action)
        observation, is_over = _stepped(env, action)
        if is_over and not ignore_done:
            break
        # A vector begins the next episodes by itself.
        if is_over and isinstance(env, Env):
            observation = env.reset()[0]
    _print_time(begun)


def run_and_print_episode_with_selective_step(
    env: VectorEnv, policy: Callable[[Any], Any], ignore_done: bool = False, max_steps: int = _MOST
) -> None:
    """Step some environments of a vector at a time, chosen by chance, and print each step."""
    begun = time.perf_counter()
    observations: list[Any] = list(env.reset()[0])
    is_done = [False] * env.num_envs
    for number in range(1, int(max_steps) + 1):
        chosen = sorted(random.sample(range(env.num_envs), random.randint(1, env.num_envs)))
        answers = policy(observations)
        actions = {index: answers[index] for index in chosen}
        _print_head(number, action=actions)
        step = env.step(actions)
        # What comes back has a row for each environment that was stepped, in their order.
        for index, observation in zip(chosen, step.observations, strict=True):
            observations[index] = observation
        _print_piece("next_observation", step.observations)
        _print_outcome(step.rewards, step.terminated, step.truncated)
        for place, index in enumerate(chosen):
            is_done[index] |= bool(step.terminated[place] or step.truncated[place])
        if all(is_done) and not ignore_done:
            break
    _print_time(begun)


def _stepped(env: Any, action: Any) -> tuple[Any, bool]:
    """Take a step, print what it came to, and say whether every episode is over."""
    observation, reward, terminated, truncated, _ = env.step(action)
    _print_outcome(reward, terminated, truncated)
    over = terminated | truncated
    if hasattr(over, "all"):  # a vector's flags are arrays
        over = over.all()
    return observation, bool(over)


def _print_head(number: int, **pieces: object) -> None:
    print(f"{_LINE}\nStep {number}")  # noqa: T201 - what it is for
    for name, value in pieces.items():
        _print_piece(name, value)


def _print_piece(name: str, value: object) -> None:
    print(f"{'-' * 10} {name} {'-' * 10}")  # noqa: T201 - what it is for
    ppprint(value)


def _print_outcome(reward: object, terminated: object, truncated: object) -> None:
    _print_piece("reward", reward)
    print(f"terminated:  {terminated} truncated:  {truncated}\n{_LINE}")  # noqa: T201 - likewise


def _print_time(begun: float) -> None:
    print(f"----TIME: {time.perf_counter() - begun:.2f} seconds")  # noqa: T201 - likewise
