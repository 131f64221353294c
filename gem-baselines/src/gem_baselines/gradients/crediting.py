"""Put batches of trajectories through an estimator, as records of episodes.

Knows nothing about gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gem.episode import Episode, Turn
from gem_baselines.gradients.batches import Batches
from gem_baselines.gradients.policy import SoftmaxPolicy
from gem_baselines.gradients.trajectories import Trajectories
from gem_baselines.learning_policy import Floats, Per
from gem_baselines.training.advantages import Credit, Terms

__all__ = ["Crediting", "terms_of"]

Estimate = Callable[[Sequence[Episode], Terms], Credit]

_ALONE = 50  # trajectories that are tried alone and together
_AT_ONCE = 20_000  # episodes of groups that an estimator takes at once
_ROUNDING = 1e-12
_NUMBER = "trajectory"


def terms_of(policy: SoftmaxPolicy, lam: float) -> Terms:
    """Return what an estimator may look at: an exact critic, and the mean that is expected."""
    ends = policy.trajectories.first[1:]
    by_trajectory = np.split(policy.values, ends)

    def values(episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]:
        assert per == "turn", "what is enumerated has no tokens"
        return [by_trajectory[episode.env_kwargs[_NUMBER]] for episode in episodes]

    return Terms(policy.gamma, lam, policy.mean_return, values)


class Crediting:
    """Makes episodes of trajectories, which have their trajectory's number as an argument.

    Their seed is that of their start, as in a training: an estimator may group by it. They have
    rewards and ends, and no texts.
    """

    def __init__(self, trajectories: Trajectories) -> None:
        self._trajectories = trajectories
        self._turns = [
            tuple(Turn("", "", reward, False, False) for reward in each.rewards)
            for each in trajectories.all
        ]
        self._by_place: dict[tuple[int, int], Episode] = {}

    def depends_on_others(self, estimate: Estimate, terms: Terms) -> bool:
        """Return whether an episode's advantages change with the others of its batch."""
        number = min(len(self._trajectories.all), _ALONE)
        episodes = [self._episode(at, start=at, repeat=0) for at in range(number)]
        together = estimate(episodes, terms).advantages
        alone = [estimate([episode], terms).advantages[0] for episode in episodes]
        return any(
            not np.allclose(one, other, rtol=0.0, atol=_ROUNDING)
            for one, other in zip(together, alone, strict=True)
        )

    def depends_on_terms(self, estimate: Estimate, terms: Sequence[Terms]) -> bool:
        """Return whether advantages change with the terms, which are a policy's each."""
        number = min(len(self._trajectories.all), _ALONE)
        # In pairs of one start: what compares repeats would give 0 to all that are alone.
        episodes = [self._episode(at, start=at // 2, repeat=at % 2) for at in range(number)]
        first, *others = (np.concatenate(estimate(episodes, each).advantages) for each in terms)
        return any(not np.array_equal(first, other) for other in others)

    def advantages(self, estimate: Estimate, batches: Batches, terms: Terms) -> Floats:
        """Return the advantages of all turns of all batches, one after another.

        Groups go through the estimator many at once, as those of a training batch do: it compares
        each with its own start alone.
        """
        found: list[Floats] = []
        if batches.are_groups:
            for part in batches.parts(max(_AT_ONCE // batches.size, 1)):
                episodes = [
                    self._episode(int(trajectory), start=start, repeat=repeat)
                    for start, members in enumerate(batches.members[part])
                    for repeat, trajectory in enumerate(members)
                ]
                found += estimate(episodes, terms).advantages
        else:
            for members in batches.members.tolist():
                episodes = [self._at(place, number) for place, number in enumerate(members)]
                found += estimate(episodes, terms).advantages
        return np.concatenate(found)

    def _at(self, place: int, number: int) -> Episode:
        """Return an episode in its place of a batch, made once: no record changes."""
        known = self._by_place.get((place, number))
        if known is None:
            known = self._episode(number, start=place, repeat=0)
            self._by_place[place, number] = known
        return known

    def _episode(self, number: int, *, start: int, repeat: int) -> Episode:
        trajectory = self._trajectories.all[number]
        ending = trajectory.ending
        return Episode(
            env_id=self._trajectories.env_id,
            env_kwargs={_NUMBER: number},
            wrappers=(),
            env_index=0,
            episode_index=start,
            repeat=repeat,
            seed=start,
            task=None,
            policy="softmax",
            turns=self._turns[number],
            final_observation=None,
            total_reward=sum(trajectory.rewards),
            terminated=ending.terminated,
            truncated=ending.truncated,
            stop_reason="terminated" if ending.terminated else "truncated",
            error=None,
            success=ending.success,
            versions={},
            duration_s=0.0,
        )
