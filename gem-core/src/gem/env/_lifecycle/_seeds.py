"""The seeds of an environment: checked, put into its streams, and handed down through wrappers."""

from __future__ import annotations

import random
from typing import Any

from gem._python.quantities import is_seed
from gem._python.seeding import key_seed
from gem.env._lifecycle._phases import AnyEnv
from gem.errors import BadArguments

__all__ = ["LazyRandom", "checked_seed", "offer_seed", "reseed", "withdraw_seed"]

_SEEDING: Any = object()
"""In place of an episode's seed, while `reseed` reads the generator that it will seed."""


class LazyRandom:
    """Make `rng` on first read; the instance's own value then hides this."""

    def __get__(self, env: AnyEnv, owner: type) -> Any:
        if env is None:
            return self
        # One that is seeded next needs no state of the system's, which takes three times as long.
        is_seeded_next = env._episode_seed is _SEEDING
        env.rng = random.Random.__new__(random.Random) if is_seeded_next else random.Random()
        return env.rng


def checked_seed(seed: Any, subject: str) -> int | None:
    """Return a seed as an int. Any int is valid; BadArguments on all else, a bool included."""
    if seed is None:
        return None
    if not is_seed(seed):
        raise BadArguments(
            f"{subject} was given seed={seed!r}. A seed is an int, or None to continue the "
            "instance's own stream.",
            subject=subject,
        )
    return int(seed)


def reseed(env: AnyEnv, seed: int | None) -> None:
    """Point the environment's streams at `seed`; None leaves them running on."""
    seed = checked_seed(seed, "reset")
    if seed is None:
        return
    env._episode_seed = _SEEDING
    # The seed is hashed first: seeds that are near, or of one episode and its policy, must not
    # give streams that are alike.
    env.rng.seed(key_seed("env", seed))
    env._episode_seed = seed
    # The stream of `sample_action` is made from the episode's seed on its next use.
    env._sampler = None


def offer_seed(env: AnyEnv, seed: int | None) -> None:
    """Let the seed reach the base even through a wrapper whose reset does not hand it on."""
    if seed is not None:
        env.unwrapped._first_seed = seed


def withdraw_seed(env: AnyEnv, seed: int | None) -> None:
    """Take back an offered seed, so that no later reset begins with it."""
    if seed is not None:
        env.unwrapped._first_seed = None
