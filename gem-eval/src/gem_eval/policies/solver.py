"""Answer with the environment's own solution."""

from __future__ import annotations

from gem.conversation import Request
from gem_eval.errors import PolicyError

__all__ = ["Solver"]


class Solver:
    """The `solver` policy: the gold answer or an optimal move, where one is known."""

    asks_model = False
    wants = frozenset({"solution"})

    def __call__(self, request: Request) -> str:
        if request.solution is None:
            raise PolicyError(
                f"The policy 'solver' needs a solution, and {request.env_id} knows none for "
                "its state now. Evaluate it with another policy."
            )
        return request.solution
