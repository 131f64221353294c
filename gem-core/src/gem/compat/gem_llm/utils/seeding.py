"""`gem.utils.seeding`, as in gem-llm."""

from __future__ import annotations

import random

from gem.registry._importing import check_requirements

check_requirements(("numpy>=1.26",), subject="gem.utils.seeding", of="gem-core")

import numpy as np  # noqa: E402  what is absent is told before it is met

__all__ = ["np_random", "set_seed"]


def np_random(seed: int | None = None) -> tuple[np.random.Generator, int]:
    """Return a generator of numpy's, and the seed that it began with."""
    # Without a seed the generator draws one of 128 bits, which is returned so that it can be noted.
    entropy = np.random.SeedSequence(seed).entropy
    assert isinstance(entropy, int)
    return np.random.default_rng(entropy), entropy


def set_seed(seed: int | None = None) -> None:
    """Seed the process's own `random` and numpy's. No environment of ours draws from them."""
    random.seed(seed)
    # numpy takes 32 bits, and gem-llm's users give any int.
    np.random.seed(None if seed is None else seed % 2**32)  # noqa: NPY002 - what it is for
