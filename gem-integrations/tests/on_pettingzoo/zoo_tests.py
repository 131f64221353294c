"""PettingZoo's own tests. Importing them imports a game the old way, which warns where it can."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import (
        api_test,
        max_cycles_test,
        parallel_api_test,
        parallel_seed_test,
        seed_test,
    )

__all__ = ["api_test", "max_cycles_test", "parallel_api_test", "parallel_seed_test", "seed_test"]
