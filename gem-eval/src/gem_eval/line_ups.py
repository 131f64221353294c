"""Who plays: a policy that sits at every seat, or a line-up, which says who sits where.

Knows nothing about how policies are made or asked.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from gem.conversation import Policy, name_of
from gem.registry import near
from gem_eval.errors import SettingsError

__all__ = [
    "LineUp",
    "LineUpRef",
    "Policies",
    "PolicyLike",
    "PolicyRef",
    "check_seats",
    "joined_policies",
    "members_of",
    "named_policies",
    "policy_list",
    "policy_refs",
]

PolicyLike = str | Policy
"""`NAME` or `NAME:ARGUMENT` of an installed policy, or a policy itself."""

LineUpLike = Mapping[str, PolicyLike] | Sequence[PolicyLike]
"""A mapping from the names of seats, or a tuple that rotates: policy `i` is at the seat
`(i + rotation) % seats`."""

Policies = PolicyLike | Mapping[str, PolicyLike] | Iterable["PolicyLike | LineUpLike"]

_JOINT = " + "  # of the policies in the name of a line-up


@dataclass(frozen=True, slots=True)
class LineUp:
    """Policies that play together, as they were given. Without `seats` they rotate."""

    policies: tuple[PolicyLike, ...]
    seats: tuple[str, ...] | None


class PolicyRef(BaseModel):
    """A policy as a run records it. `live` is the type of an object that no name leads to."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    live: str | None = None

    @property
    def members(self) -> tuple[PolicyRef, ...]:
        """The policies that play: itself alone."""
        return (self,)


class LineUpRef(PolicyRef):
    """A line-up as a run records it: its name, its policies, and their seats if those are fixed.

    In the run's log it is the policy of its episodes; whose each turn is, `Episode.seats` says.
    """

    policies: Annotated[tuple[PolicyRef, ...], Field(min_length=1)]
    seats: tuple[str, ...] | None = None

    @property
    def members(self) -> tuple[PolicyRef, ...]:
        """The policies that play, in the order in which they were given."""
        return self.policies

    @property
    def rotates(self) -> bool:
        """Whether its policies change seats from episode to episode."""
        return self.seats is None

    def at(self, seats: Sequence[str], rotation: int) -> list[str]:
        """Return the names of those who sit at these seats."""
        names = [ref.name for ref in self.policies]
        if self.seats is not None:
            by_seat = dict(zip(self.seats, names, strict=True))
            return [by_seat[seat] for seat in seats]
        count = len(names)
        return [names[(seat - rotation) % count] for seat in range(len(seats))]


def policy_list(policies: Policies) -> list[Any]:
    """Return policies and line-ups as a list.

    Raises SettingsError on a line-up of anything but policies, and on what was given twice.
    """
    is_one = isinstance(policies, (str, Mapping)) or callable(policies)
    several: Iterable[Any] = [policies] if is_one else policies  # type: ignore[assignment]
    listed = [_as_given(policy) for policy in several]
    known: set[Hashable] = set()
    for policy in listed:
        # Two objects are two policies, even where they are equal.
        key = _key(policy)
        if key in known:
            raise SettingsError(
                f"The policy {_ref(policy).name!r} was given twice, and a run tells policies "
                "apart by name. Give it once; --repeats plays each episode several times.",
                option="policies",
            )
        known.add(key)
    return listed


def policy_refs(policies: Policies) -> tuple[PolicyRef, ...]:
    """Record policies by name, each once, in the order given."""
    listed = policy_list(policies)
    _refuse_namesakes(listed)
    return tuple(map(_ref, listed))


def _refuse_namesakes(listed: Iterable[Any]) -> None:
    """Refuse two objects of one name in line-ups: their records would be the same."""
    known: dict[str, Hashable] = {}
    for given in listed:
        for policy in given.policies if isinstance(given, LineUp) else ():
            name = policy if isinstance(policy, str) else name_of(policy)
            if known.setdefault(name, _key(policy)) != _key(policy):
                raise SettingsError(
                    f"Two policies are called {name!r}, and a run tells them apart by name. Give "
                    "one another `name`.",
                    option="policies",
                )


def members_of(refs: Iterable[PolicyRef]) -> tuple[PolicyRef, ...]:
    """Return every policy that plays in any of these, each once."""
    return tuple(dict.fromkeys(member for ref in refs for member in ref.members))


def named_policies(name: str) -> list[tuple[str, str]]:
    """Return the policies that a line-up's name tells, each behind its seat and a `=`, or "".

    >>> named_policies("first=solver + second=openai:m@http://host/v1?x=1")
    [('first=', 'solver'), ('second=', 'openai:m@http://host/v1?x=1')]
    >>> named_policies("openai:m@http://host/v1?x=1")
    [('', 'openai:m@http://host/v1?x=1')]
    """
    policies = []
    for part in name.split(_JOINT):
        seat, sign, policy = part.partition("=")
        # A policy with a colon before its first sign has that in its own argument.
        is_at_seat = sign and ":" not in seat
        policies.append((f"{seat}=", policy) if is_at_seat else ("", part))
    return policies


def joined_policies(policies: Iterable[tuple[str, str]]) -> str:
    """Return the name of a line-up by the form that `named_policies` returns."""
    return _JOINT.join(f"{seat}{policy}" for seat, policy in policies)


def check_seats(
    refs: Iterable[PolicyRef], env_ids: Sequence[str], seats: Sequence[Sequence[str]]
) -> None:
    """Raise SettingsError where a line-up does not fit the seats of the environments."""
    for ref in refs:
        if isinstance(ref, LineUpRef):
            _refuse_unequal(ref, env_ids, seats)
            _refuse_others(ref, env_ids[0], seats[0])


def _refuse_unequal(ref: LineUpRef, env_ids: Sequence[str], seats: Sequence[Sequence[str]]) -> None:
    for env_id, own in zip(env_ids, seats, strict=True):
        if len(own) == 1:
            raise _misfit(
                f"The line-up {ref.name!r} is of several seats, and {env_id} has one. Give one "
                "policy alone."
            )
        if tuple(own) != tuple(seats[0]):
            raise _misfit(
                f"The line-up {ref.name!r} would play {env_ids[0]} with the seats "
                f"{', '.join(seats[0])} and {env_id} with {', '.join(own)}. Evaluate environments "
                "of different seats apart."
            )


def _refuse_others(ref: LineUpRef, env_id: str, seats: Sequence[str]) -> None:
    are = f"the seats of {env_id} are {', '.join(seats)}"
    if ref.seats is None:
        if len(ref.policies) != len(seats):
            raise _misfit(
                f"The line-up {ref.name!r} has {len(ref.policies)} policies, and {are}. Give one "
                "for each seat; one policy may be there twice."
            )
        return
    unknown = [seat for seat in ref.seats if seat not in seats]
    if unknown:
        alike = near(unknown[0], list(seats))
        advice = f"Did you mean {alike[0]!r}?" if alike else "Give a policy for each of these."
        raise _misfit(
            f"The line-up {ref.name!r} is for the seat {unknown[0]!r}, and {are}. {advice}"
        )
    missing = [seat for seat in seats if seat not in ref.seats]
    if missing:
        raise _misfit(
            f"The line-up {ref.name!r} has nobody for the seat {missing[0]!r}, and {are}. Give a "
            "policy for each."
        )


def _misfit(text: str) -> SettingsError:
    return SettingsError(text, option="policies")


def _as_given(policy: Any) -> Any:
    if isinstance(policy, (str, LineUp, PolicyRef)) or callable(policy):
        return policy
    if isinstance(policy, Mapping):
        return _line_up(policy, [*policy.values()], tuple(map(str, policy)))
    if isinstance(policy, (tuple, list)):
        return _line_up(policy, policy, None)
    return policy


def _line_up(given: Any, policies: Sequence[Any], seats: tuple[str, ...] | None) -> LineUp:
    strange = [one for one in policies if not (isinstance(one, str) or callable(one))]
    if strange or not policies:
        what = f"{strange[0]!r:.60} in it is no policy" if strange else "it has no policy"
        raise SettingsError(
            f"{given!r:.100} was given as a line-up, and {what}. Give a mapping from the names of "
            "seats to policies, or a tuple of policies that rotates.",
            option="policies",
        )
    return LineUp(tuple(policies), seats)


def _key(policy: Any) -> Hashable:
    if isinstance(policy, LineUp):
        return (policy.seats, *map(_key, policy.policies))
    return policy if isinstance(policy, str) else id(policy)


def _ref(policy: PolicyLike | LineUp | PolicyRef) -> PolicyRef:
    if isinstance(policy, PolicyRef):
        return policy
    if isinstance(policy, str):
        return PolicyRef(name=policy)
    if isinstance(policy, LineUp):
        members = tuple(map(_ref, policy.policies))
        return LineUpRef(name=_name(members, policy.seats), policies=members, seats=policy.seats)
    kind = type(policy)
    return PolicyRef(name=name_of(policy), live=f"{kind.__module__}.{kind.__qualname__}")


def _name(members: Sequence[PolicyRef], seats: Sequence[str] | None) -> str:
    """Name a line-up by its policies, and their seats where those are fixed.

    >>> _name([PolicyRef(name="solver"), PolicyRef(name="random")], ["first", "second"])
    'first=solver + second=random'
    """
    prefixes = [""] * len(members) if seats is None else [f"{seat}=" for seat in seats]
    names = [member.name for member in members]
    return joined_policies(zip(prefixes, names, strict=True))
