"""The seats of an episode: what each was shown, earned, and how it ended.

Knows nothing about who plays them.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gem.content import Observation, observation_copy, observation_from_json, observation_to_json
from gem.env._step import Step
from gem.specs import EnvSpec

__all__ = ["ROUNDING", "SeatOutcome", "SeatedCourse", "seats_succeeded"]

ROUNDING = 1e-9  # a return is a sum of floats, and may miss a whole number by as little


@dataclass(frozen=True, slots=True)
class SeatOutcome:
    """How an episode went for one seat, and who sat there.

    `policy_index` is the position of its policy among those that the run was given. `success` is
    None where an error ended the episode. `end` is "terminated" or "truncated".
    `final_observation` is what it was shown last and did not answer, None where that is nothing.
    """

    name: str
    policy: str
    policy_index: int
    total_reward: float
    success: bool | None
    end: str
    final_observation: Observation | None
    rewrites_history: bool = False

    def reproduced(self) -> dict[str, Any]:
        """Return what must reproduce, as JSON data: not who sat there."""
        final = self.final_observation
        return {
            "name": self.name,
            "total_reward": self.total_reward,
            "success": self.success,
            "end": self.end,
            "final_observation": None if final is None else observation_to_json(final),
        }

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        plain = {
            **self.reproduced(),
            "policy": self.policy,
            "policy_index": self.policy_index,
        }
        if self.rewrites_history:  # a record has it only where it holds
            plain["rewrites_history"] = True
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> SeatOutcome:
        """Rebuild it. Raises KeyError, TypeError or ValueError on data of another shape."""
        final = plain["final_observation"]
        return cls(
            name=plain["name"],
            policy=plain["policy"],
            policy_index=plain["policy_index"],
            total_reward=plain["total_reward"],
            success=plain["success"],
            end=plain["end"],
            final_observation=None if final is None else observation_from_json(final),
            rewrites_history=plain.get("rewrites_history", False),
        )


class SeatedCourse:
    """What happened so far to each seat: its question, if it has one, its rewards, and its end.

    `questions` are observations that were shown and not answered yet, each with its suffix.
    """

    __slots__ = ("_ends", "_rewards", "_sums", "info", "names", "questions", "seat", "suffixes")

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.seat = 0
        self.info: Mapping[str, Any] = {}
        self.questions: list[Observation | None] = [None] * len(names)
        self.suffixes: list[str | None] = [None] * len(names)
        self._ends: dict[int, str] = {}
        # A number a seat for each action, in one row: thousands of episodes are held at once.
        self._rewards = array("d")
        # Checked as they grow, for at the end they would cost the whole episode its record.
        self._sums = [0.0] * len(names)

    def start(self, observation: Observation, info: Mapping[str, Any]) -> Mapping[int, Observation]:
        """Take in how the environment begins. Return what is newly shown, and to whom."""
        return self._show(Step(observation, info=dict(info)))

    def pay(self, rewards: Sequence[float]) -> None:
        """Take in what an action earned. Raises ValueError where it makes no finite sum."""
        sums = [total + reward for total, reward in zip(self._sums, rewards, strict=True)]
        if not all(map(math.isfinite, sums)):
            raise ValueError(f"step returned the rewards {tuple(rewards)}, too large for a sum")
        self._sums = sums
        self._rewards.extend(rewards)

    def take(self, step: Step) -> Mapping[int, Observation]:
        """Take in what an action led to, and return what is newly shown, and to whom."""
        self._ends.update(step.ends)
        self.questions[self.seat] = None  # it is answered
        self.suffixes[self.seat] = None
        return self._show(step)

    def _show(self, step: Step) -> Mapping[int, Observation]:
        is_over = step.terminated or step.truncated
        shown: dict[int, Observation] = {}
        for seat, observation in step.observations.items():
            # What cannot be recorded fails here, in this episode. It is a copy that is kept.
            shown[seat] = observation_copy(observation)
            # At the end everybody is shown something, be it nothing: a question stays.
            if shown[seat] or self.questions[seat] is None or not is_over:
                self.questions[seat] = shown[seat]
                self.suffixes[seat] = None
        suffix = step.info.get("suffix")
        if not (suffix is None or isinstance(suffix, str)):
            raise TypeError(f"info['suffix'] is {suffix!r:.60}, and must be a text")
        self.seat = step.seat
        self.suffixes[self.seat] = suffix
        self.info = step.info
        return shown

    @property
    def totals(self) -> list[float]:
        """The sum of the rewards of each seat, exact."""
        count = len(self.names)
        return [math.fsum(self._rewards[seat::count]) for seat in range(count)]

    def successes(self, spec: EnvSpec | None, *, unsolved: int | None = None) -> list[bool]:
        """Say of each seat whether it succeeded: the last info knows, or else its return does.

        Without a spec a return of 1 is enough. `unsolved` is a seat whose model had no room left.
        """
        known = seats_succeeded(self.info, self.totals, spec)
        return [success and seat != unsolved for seat, success in enumerate(known)]

    def is_success(self, successes: Sequence[bool]) -> bool:
        """Say whether all succeeded; where the last info says it of all alone, that counts."""
        if "success" in self.info and "successes" not in self.info:
            return bool(self.info["success"])
        return all(successes)

    def outcomes(
        self,
        policies: Sequence[tuple[str, int]],
        successes: Sequence[bool | None],
        *,
        is_terminated: bool,
        rewrites: Sequence[bool],
    ) -> tuple[SeatOutcome, ...]:
        """Return how it went for each seat. `policies` are names, and positions in the run's."""
        usual = "terminated" if is_terminated else "truncated"
        return tuple(
            SeatOutcome(
                name,
                *policies[seat],
                self.totals[seat],
                successes[seat],
                self._ends.get(seat, usual),
                self.questions[seat],
                rewrites[seat],
            )
            for seat, name in enumerate(self.names)
        )


def seats_succeeded(
    info: Mapping[str, Any], totals: Sequence[float], spec: EnvSpec | None
) -> list[bool]:
    """Say of each seat whether it succeeded: the last info knows, or else its return does."""
    known = info.get("successes")
    if known is not None:
        return [bool(success) for success in known]
    success_return = 1.0 if spec is None else spec.success_return
    return [total >= success_return - ROUNDING for total in totals]
