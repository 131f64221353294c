"""Who plays: one policy, or several by the names of seats or in turn.

Knows nothing about how a policy is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Union

from gem.conversation import Policy, name_of
from gem.errors import BadArguments
from gem.registry._making import make_policy

__all__ = ["NamedPolicy", "Policies", "PolicyLike", "as_policies"]

PolicyLike = Union[Policy, str]
"""A policy, or the name of one that an installed pack provides."""

_WHAT = (
    "Give a function, or an object with `__call__`, from a Request to a Reply, a Message or a "
    "string; or the name of a policy that is installed. Of several seats give one policy for all "
    "of them, a mapping from the names of seats, or a list that rotates."
)


class NamedPolicy(NamedTuple):
    """A policy, and its name for records."""

    policy: Policy
    name: str


class Policies:
    """The policies of a run, checked against seats before anything runs.

    One sits everywhere. With `names` each sits where its name says; else policy `i` of a list is
    at the seat `(i + rotation) % seats`. `close` frees those that the run has made by their names.
    `named` are all of them, in the order in which they were given, once they are made.
    """

    def __init__(self, given: Sequence[PolicyLike], names: Sequence[str] | None = None) -> None:
        for policy in given:
            if not isinstance(policy, str) and not callable(policy):
                raise BadArguments(
                    f"{policy!r:.60} was given as the policy, and cannot be called. {_WHAT}",
                    subject="policy",
                )
        self._given = tuple(given)
        self._names = None if names is None else tuple(names)
        self.named: tuple[NamedPolicy, ...] = ()

    def make(self) -> None:
        """Make those that were asked for by their names."""
        named = []
        for given in self._given:
            if isinstance(given, str):
                named.append(NamedPolicy(make_policy(given), given))
            else:
                named.append(NamedPolicy(given, name_of(given)))
        self.named = tuple(named)

    @property
    def are_for_any_seats(self) -> bool:
        """Whether they fit every number of seats: there is one, and it sits everywhere."""
        return self._names is None and len(self._given) == 1

    def check(self, seats: Sequence[str], env_id: str) -> None:
        """Raise BadArguments where they do not fit the seats of an environment.

        It is asked of several policies alone.
        """
        are = f"The seats of {env_id!r} are {', '.join(seats)}"
        if self._names is None:
            if len(self._given) != len(seats):
                raise BadArguments(
                    f"A list of {len(self._given)} policies was given. {are}: give as many, or one "
                    "policy for all.",
                    subject="policy",
                )
        elif sorted(self._names) != sorted(seats):
            raise BadArguments(
                f"Policies were given for {', '.join(self._names)}. {are}: give a policy for each.",
                subject="policy",
            )

    def at(self, seats: Sequence[str], rotation: int) -> list[int]:
        """Return which of the policies sits at each seat, by its place among them."""
        count = len(seats)
        if self.are_for_any_seats:
            return [0] * count
        if self._names is not None:
            return [self._names.index(name) for name in seats]
        return [(seat - rotation) % count for seat in range(count)]

    async def close(self) -> None:
        """Free what the policies hold that the run has made."""
        for given, named in zip(self._given, self.named, strict=False):
            close = getattr(named.policy, "aclose", None)
            if isinstance(given, str) and close is not None:
                await close()


def as_policies(
    policy: PolicyLike | Mapping[str, PolicyLike] | Sequence[PolicyLike],
) -> Policies:
    """Return the policies that a caller gave. Raises BadArguments on what is none."""
    if isinstance(policy, str) or callable(policy):
        return Policies([policy])
    if isinstance(policy, Mapping):
        return Policies([*policy.values()], [*policy])
    listed: object = policy
    if isinstance(listed, Sequence) and listed:
        return Policies(listed)
    raise BadArguments(
        f"{policy!r:.60} was given as the policy, and cannot be called. {_WHAT}", subject="policy"
    )
