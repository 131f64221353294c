"""What the episode before came to, in the `info` of a reset, under the names that gem-llm had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["of_episode_before"]


def of_episode_before(counters: Mapping[str, Any]) -> dict[str, Any]:
    """Return counters as a reset shows them once they have begun again.

    >>> of_episode_before({"step_counter": 3})
    {'prev_ep_step_counter': 3}
    """
    return {f"prev_ep_{name}": value for name, value in counters.items()}
