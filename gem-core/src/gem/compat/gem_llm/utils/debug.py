"""`gem.utils.debug`, as in gem-llm."""

from __future__ import annotations

from gem.compat._debug import (
    ppprint,
    run_and_print_episode,
    run_and_print_episode_async,
    run_and_print_episode_with_selective_step,
)

__all__ = [
    "ppprint",
    "run_and_print_episode",
    "run_and_print_episode_async",
    "run_and_print_episode_with_selective_step",
]
