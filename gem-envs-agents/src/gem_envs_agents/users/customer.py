"""The policy `customer`: the scripted user, for the user's seat of a service desk of two."""

from __future__ import annotations

from gem.conversation import Request
from gem.errors import BadArguments

__all__ = ["Customer"]


class Customer:
    """Do what the automaton would do, which is what the environment knows as its solution."""

    name = "customer"
    wants = frozenset({"solution"})

    def __call__(self, request: Request) -> str:
        """Return the automaton's next action. Raises BadArguments in the seat of an agent."""
        if request.solution is None or request.seat != 1:
            raise BadArguments(
                f"The policy 'customer' was asked for seat {request.seat} of {request.env_id}. "
                "Let it sit in the seat 'user' of a service desk of two.",
                subject="customer",
            )
        return request.solution
