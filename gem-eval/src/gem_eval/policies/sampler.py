"""Answer with an action that the environment draws."""

from __future__ import annotations

from gem.conversation import Request
from gem_eval.errors import PolicyError

__all__ = ["Sampler"]


class Sampler:
    """The `random` policy. Its chance is the environment's own, keyed by the episode's seed."""

    asks_model = False
    wants = frozenset({"sample"})

    def __call__(self, request: Request) -> str:
        if request.sample is None:
            raise PolicyError(
                f"The policy 'random' has nothing to draw from: {request.env_id} defines no "
                "sample_action. Evaluate it with another policy."
            )
        return request.sample
