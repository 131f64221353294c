"""What a policy of a game tree is: probabilities of actions, from an information state alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

__all__ = ["Policy", "Table", "checked", "from_table", "uniform"]

Policy = Callable[[str, tuple[str, ...]], Sequence[float]]
"""From an information state (`Position.known_to`) and the legal actions to their probabilities."""

Table = Mapping[str, Mapping[str, float]]
"""A policy as data: from information states to actions to probabilities; what is absent is 0."""

_TOLERANCE = 1e-9


def uniform(information: str, actions: tuple[str, ...]) -> tuple[float, ...]:
    """Give every action the same probability.

    >>> uniform("", ("pass", "bet"))
    (0.5, 0.5)
    """
    return (1 / len(actions),) * len(actions)


def from_table(table: Table) -> Policy:
    """Return the policy that plays a table, and uniformly where the table has no row.

    >>> from_table({"0 K ": {"bet": 1.0}})("0 K ", ("pass", "bet"))
    [0.0, 1.0]
    """

    def policy(information: str, actions: tuple[str, ...]) -> Sequence[float]:
        row = table.get(information)
        if row is None:
            return uniform(information, actions)
        return [row.get(action, 0.0) for action in actions]

    return policy


def checked(policy: Policy, information: str, actions: tuple[str, ...]) -> Sequence[float]:
    """Return the probabilities that a policy gives. Raises ValueError if they are none."""
    probabilities = policy(information, actions)
    is_complete = len(probabilities) == len(actions)
    if (
        not is_complete
        or not all(probability >= 0.0 for probability in probabilities)
        or not math.isclose(sum(probabilities), 1.0, abs_tol=_TOLERANCE)
    ):
        raise ValueError(
            f"A policy gave {list(probabilities)} for the actions {', '.join(actions)} in "
            f"{information!r}. Return one probability for each action, which add up to 1."
        )
    return probabilities
