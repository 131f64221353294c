"""The functions of `gem.utils.seeding`."""

from __future__ import annotations

import random

import numpy as np

__all__ = ["np_random", "set_seed"]


def np_random(seed: int | None = None) -> tuple[np.random.Generator, int]:
    """Return a generator of numpy's, and the seed that it began with."""
    entropy = np.random.SeedSequence(seed).entropy
    assert isinstance(entropy, int)
    return np.random.default_rng(entropy), entropy


def set_seed(seed: int | None = None) -> None:
    """Seed the process's own `random` and numpy's. No environment of ours draws from them."""
    random.seed(seed)
    np.random.seed(None if seed is None else seed % 2**32)  # noqa: NPY002 - what it is for
