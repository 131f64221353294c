"""Who plays an episode together, ready to be asked: one policy, or those of a line-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gem.conversation import Policy
from gem.episode import Episode
from gem.rollouts import PlannedEpisode
from gem_eval.budgets import Amount
from gem_eval.line_ups import LineUpRef, PolicyRef
from gem_eval.policies import NamedPolicy

__all__ = ["Playing", "amounts_of"]


class Playing:
    """A policy that sits at every seat, or a line-up. `members` are in the order of the record."""

    def __init__(self, ref: PolicyRef, members: Sequence[NamedPolicy]) -> None:
        self.name = ref.name
        self.members = members
        self._line_up = ref if isinstance(ref, LineUpRef) else None

    @property
    def uses_screen(self) -> bool:
        """Whether one of them asks at the terminal."""
        return any(member.uses_screen for member in self.members)

    @property
    def failures_in_a_row(self) -> int:
        """How many requests of its policies failed that were sent after the last answer of each."""
        return sum(member.failures_in_a_row for member in {*self.members})

    def seated(
        self, policies: Mapping[str, Policy]
    ) -> Policy | Mapping[str, Policy] | Sequence[Policy]:
        """Return what `gem.rollout` takes. `policies` are by name, and stand for the members."""
        asked = [policies.get(member.name, member) for member in self.members]
        if self._line_up is None:
            return asked[0]
        if self._line_up.seats is None:
            return asked
        return dict(zip(self._line_up.seats, asked, strict=True))

    def seats_of(self, member: NamedPolicy, seats: Sequence[str]) -> list[str]:
        """Return those of some seats at which a member may sit."""
        fixed = None if self._line_up is None else self._line_up.seats
        if fixed is None:
            return [*seats]
        at = {seat for seat, each in zip(fixed, self.members, strict=True) if each is member}
        return [seat for seat in seats if seat in at]

    def recorded(self, episode: Episode) -> Episode:
        """Return an episode as the run records it: the policy of a line-up is the line-up."""
        return episode if self._line_up is None else replace(episode, policy=self.name)

    def conflict(self, episode: Episode, planned: PlannedEpisode) -> str | None:
        """Say who sat elsewhere in an episode than this line-up sits; None where it fits."""
        if self._line_up is None or not episode.seats:  # an error may come before anybody sits
            return None
        names = [seat.name for seat in episode.seats]
        there = [seat.policy for seat in episode.seats]
        rotation = planned.episode_index if planned.rotation is None else planned.rotation
        seats = names if self._line_up.seats is None else [*self._line_up.seats]
        if sorted(seats) != sorted(names):
            return f"the seats are {names} in its log and {seats} in its run.json"
        here = self._line_up.at(names, rotation)
        if there != here:
            return f"who sat there is {there} in its log and {here} by its run.json"
        return None

    def end(self, episode: Episode) -> None:
        """Tell each policy how an episode ended: of a line-up, how its own seat's part did."""
        if self._line_up is None:
            self.members[0].end(episode)
            return
        for seat, outcome in enumerate(episode.seats):
            self.members[outcome.policy_index].end(episode.of_seat(seat))


def amounts_of(episode: Episode, first: int = 0) -> dict[str, Amount]:
    """Return what each policy has spent on an episode, from a turn on."""
    if not episode.seats:
        return {episode.policy: Amount.of(turn.usage for turn in episode.turns[first:])}
    amounts: dict[str, Amount] = {}
    for turn in episode.turns[first:]:
        policy = episode.seats[turn.seat].policy
        amounts[policy] = amounts.get(policy, Amount()).plus(Amount.of([turn.usage]))
    return amounts
