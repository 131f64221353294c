"""Who plays: one policy, or several by the names of seats or in turn.

Knows nothing about how a policy is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Union

from gem.conversation import Policy, name_of
from gem.errors import BadArguments
from gem.registry._making import make_policy

__all__ = ["Policies", "PolicyLike", "SeatedPolicy", "as_policies"]

PolicyLike = Union[Policy, str]
"""A policy, or the name of one that an installed pack provides."""

_WHAT = (
    "Give a function, or an object with `__call__`, from a Request to a Reply, a Message or a "
    "string; or the name of a policy that is installed. Of several seats give one policy for all "
    "of them, a mapping from the names of seats, or a list that rotates."
)


class SeatedPolicy(NamedTuple):
    """A policy at a seat. `name` is for records, `position` is that among the run's policies."""

    policy: Policy
    name: str
    position: int


class Policies:
    """The policies of a run, checked against seats before anything runs.

    One sits everywhere. With `names` each sits where its name says; else policy `i` of a list is
    at the seat `(i + rotation) % seats`. `close` frees those that the run has made by their names.
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
        self._seated: tuple[SeatedPolicy, ...] = ()

    def make(self) -> None:
        """Make those that were asked for by their names."""
        seated = []
        for position, given in enumerate(self._given):
            policy = make_policy(given) if isinstance(given, str) else given
            name = given if isinstance(given, str) else name_of(policy)
            seated.append(SeatedPolicy(policy, name, position))
        self._seated = tuple(seated)

    @property
    def are_for_any_seats(self) -> bool:
        """Whether they fit every number of seats: there is one, and it sits everywhere."""
        return self._names is None and len(self._given) == 1

    def check(self, seats: Sequence[str], env_id: str) -> None:
        """Raise BadArguments where they do not fit the seats of an environment."""
        if self.are_for_any_seats:
            return
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

    @property
    def first(self) -> SeatedPolicy:
        """The only one, where there is one seat."""
        return self._seated[0]

    def at(self, seats: Sequence[str], rotation: int) -> list[SeatedPolicy]:
        """Return who sits at each seat."""
        if self.are_for_any_seats:
            return [self.first] * len(seats)
        if self._names is not None:
            return [self._seated[self._names.index(name)] for name in seats]
        count = len(seats)
        return [self._seated[(seat - rotation) % count] for seat in range(count)]

    async def close(self) -> None:
        """Free what the policies hold that the run has made."""
        for given, seated in zip(self._given, self._seated, strict=False):
            close = getattr(seated.policy, "aclose", None)
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
