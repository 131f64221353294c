"""The figures of a batch of episodes: what a line of metrics or of an evaluation says of them.

They are of the episodes alone and hold no time, so the same episodes have the same figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gem.episode import Episode
from gem_baselines.errors import TrainingStopped
from gem_baselines.training.advantages import discounted

__all__ = ["figures_of", "without_errors"]


def without_errors(episodes: Sequence[Episode], *, update: int, purpose: str) -> list[Episode]:
    """Return the episodes that no error ended. Raises TrainingStopped where there is none."""
    whole = [episode for episode in episodes if not episode.is_error]
    if not whole:
        first = (episodes[0].error or "").rstrip(".")
        raise TrainingStopped(
            f"Update {update} cannot go on: each of the {len(episodes)} episodes of {purpose} "
            f"ended by an error, the first by: {first}. Mend that and go on with --resume; where "
            "the experiment is at fault, change it and start anew with --out.",
            update=update,
        )
    return whole


def figures_of(whole: Sequence[Episode], gamma: float) -> dict[str, float]:
    """Return the means of episodes that no error ended.

    `success` is a share, `reward` the sum of an episode's rewards, `turns` counts them, and
    `discounted_return` is what an episode earns from its first turn on.
    """
    number = len(whole)
    from_start = [float(discounted(episode, gamma)[:1].sum()) for episode in whole]
    return {
        "success": sum(bool(episode.success) for episode in whole) / number,
        "reward": math.fsum(episode.total_reward for episode in whole) / number,
        "turns": sum(len(episode.turns) for episode in whole) / number,
        "discounted_return": math.fsum(from_start) / number,
    }
