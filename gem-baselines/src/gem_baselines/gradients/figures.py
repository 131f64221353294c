"""What is found of estimators and their targets: the figures, and what they come to in words."""

from __future__ import annotations

import statistics
from typing import Any, NamedTuple

from gem_baselines.gradients.policy import SoftmaxPolicy, Target
from gem_baselines.gradients.trajectories import Trajectories

__all__ = ["EXPLAINED", "ROUNDING", "Gradients", "Measured", "OfPolicy"]

ROUNDING = 1e-9
"""A figure that is exact and below this is 0."""
EXPLAINED = 1e-6
"""A standard error below this is rounding: control variates explain all of the noise."""
_ALARM_Z = 4.0  # of one comparison; several estimators and policies are compared at once


class OfPolicy(NamedTuple):
    """An estimator under one policy.

    `direction_error` is the sine of the angle between the expected update and the target: the
    relative error that the best positive scale leaves. `standard_error` is the noise of all
    parameters together, 0 where every batch was enumerated. `scale` is the part of the update
    along the target, whose length is 1. `variance` is that of an episode, at scale 1, in units of
    the target's squared length; None where the scale is not positive. `z` says how many standard
    deviations the update is off the target's direction; None where it is exact.
    """

    direction_error: float
    standard_error: float
    scale: float
    variance: float | None
    z: float | None


class Measured(NamedTuple):
    """An estimator in an environment, under each policy.

    `episodes` is the size of a batch or a group, 1 where an episode's advantages depend on it
    alone. `batches` were enumerated where `is_exact`, else drawn for each policy.
    """

    estimator: str
    target: Target
    episodes: int
    are_groups: bool
    batches: int
    is_exact: bool
    by_policy: tuple[OfPolicy, ...]

    @property
    def worst(self) -> OfPolicy:
        """Under the policy where the direction is farthest off."""
        return max(self.by_policy, key=lambda figures: figures.direction_error)

    @property
    def scale(self) -> float:
        """The median scale."""
        return statistics.median(figures.scale for figures in self.by_policy)

    @property
    def variance(self) -> float | None:
        """The median variance of an episode; None where some scale is not positive."""
        variances = [figures.variance for figures in self.by_policy]
        known = [variance for variance in variances if variance is not None]
        return statistics.median(known) if len(known) == len(variances) else None

    @property
    def verdict(self) -> str:
        """What the figures come to, in words."""
        rounding = ROUNDING if self.is_exact else EXPLAINED
        is_known = self.worst.standard_error < rounding
        if is_known and self.worst.direction_error < rounding:
            scales = [figures.scale for figures in self.by_policy]
            is_unbiased = all(abs(scale - 1.0) < rounding for scale in scales)
            return "unbiased" if is_unbiased else "unbiased up to scale"
        is_found = is_known or any(
            figures.z is not None and figures.z > _ALARM_Z for figures in self.by_policy
        )
        if not is_found:
            most = self.worst.direction_error + 2.0 * self.worst.standard_error
            return f"no bias found: below {most:.3f}"
        if self.are_groups:
            return f"biased in groups of {self.episodes}, however many"
        if self.episodes == 1:
            return "biased at any number of episodes"
        return f"biased in batches of {self.episodes}"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            **self._asdict(),
            "by_policy": [figures._asdict() for figures in self.by_policy],
            "verdict": self.verdict,
        }


class Gradients(NamedTuple):
    """The exact gradients of an environment under each policy, and what was measured."""

    trajectories: Trajectories
    policies: tuple[SoftmaxPolicy, ...]
    measured: tuple[Measured, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data; gradients are lists, the table of logits row by row."""
        policies = [
            {
                "expected_discounted_return": policy.expected_return,
                "gradients": {name: target.tolist() for name, target in policy.targets.items()},
            }
            for policy in self.policies
        ]
        return {
            "env_id": self.trajectories.env_id,
            "trajectories": len(self.trajectories.all),
            "parameters": self.trajectories.parameters,
            "actions": self.trajectories.action_names,
            "policies": policies,
            "estimators": [each.to_json() for each in self.measured],
        }
