"""The record of one episode of several seats while it is played: a side a seat, and the turns.

Knows nothing about who plays it, or how many others are played beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gem._python.seeding import seeds_under
from gem.content import Observation
from gem.conversation import Reply, Request
from gem.env._step import Step
from gem.episode._episode import SEATED_FORMAT, Episode, StopReason
from gem.episode._seats import SeatedCourse
from gem.episode._turn import seated_answer_of
from gem.rollouts._asking import AskedPolicy
from gem.rollouts._planning import PlannedEpisode
from gem.rollouts._recording import Recording
from gem.rollouts._side import Side
from gem.specs import EnvSpec

__all__ = ["SeatedRecording"]


class SeatedRecording(Recording):
    """As `Recording`, of several seats: `seat` is whose action is taken next.

    `asked` are the seats that were asked by what the environment returned last. `awaited` is the
    seat whose answer is waited for: it is blamed where its policy fails.
    """

    __slots__ = ("_course", "_policies", "_sides", "_stopped_by", "asked", "awaited")

    def __init__(
        self,
        planned: PlannedEpisode,
        spec: EnvSpec,
        names: Sequence[str],
        policies: Sequence[AskedPolicy],
    ) -> None:
        super().__init__(planned, spec)
        self._course = SeatedCourse(names)
        self._policies = policies
        self._sides = [
            Side(
                seeds_under("policy", planned.seed, planned.repeat, seat),
                asked.tokens,
                spec.id,
                planned.task,
                seat,
            )
            for seat, asked in enumerate(policies)
        ]
        self._stopped_by: int | None = None
        self.asked: Sequence[int] = ()
        self.awaited = 0

    @property
    def seat(self) -> int:
        """Whose action is taken next."""
        return self._course.seat

    def start(self, observation: Observation, info: Mapping[str, Any]) -> None:
        assert self._env is not None
        for seat, side in enumerate(self._sides):
            side.begin(self._env.shown_to(seat))
        self._show(self._course.start(observation, info))

    def _show(self, shown: Mapping[int, Observation]) -> None:
        course = self._course
        for seat, observation in shown.items():
            self._sides[seat].conversation.observe(observation, {"suffix": course.suffixes[seat]})
        self.asked = tuple(shown)
        # What the next action answers, and whose it is.
        self.side = self._sides[course.seat]
        self.observation = course.questions[course.seat]
        self._suffix = course.suffixes[course.seat]

    def request_of(self, seat: int, sample: str | None, solution: str | None) -> Request | None:
        """Return the next question to a seat, as `Side.request` does; None ends the episode."""
        request = self._sides[seat].request(self._course.questions[seat], sample, solution)
        if request is None:
            self._stopped_by = seat
            self.exceed_tokens()
        return request

    def finish_turn(self, step: Step, step_s: float, max_turns: int | None) -> None:
        assert self._pending is not None
        course = self._course
        fields = seated_answer_of(step, len(course.names))
        reward = fields.pop("reward")
        # In this order: what cannot be paid is an action that failed, and what is shown next is
        # no part of the turn.
        course.pay(fields["rewards"])
        self._add_turn(self._pending, reward, step_s, fields)
        self._show(course.take(step))
        if step.terminated or step.truncated:
            self._end("terminated" if step.terminated else "truncated")
        elif max_turns is not None and len(self._actions) >= max_turns:
            self._end("max_turns")

    def _add_turn(
        self,
        pending: tuple[Reply, str, float],
        reward: float,
        step_s: float,
        fields: dict[str, Any],
    ) -> None:
        if self.seat:
            fields["seat"] = self.seat
        # An action that failed earned nobody anything.
        fields.setdefault("rewards", (0.0,) * len(self._sides))
        super()._add_turn(pending, reward, step_s, fields)

    def exceed_model_length(self) -> None:
        super().exceed_model_length()
        self._stopped_by = self.awaited

    def fail(self, reason: StopReason, error: str) -> None:
        super().fail(reason, error)
        self._course.questions = [None] * len(self._sides)
        if reason == "policy_error":
            self._stopped_by = self.awaited

    def _end(self, reason: StopReason) -> None:
        self.stop_reason = reason

    def record(self, policy: str, duration_s: float) -> Episode:
        """Return the record of the episode. `policy` is left to the names of those that sat."""
        course = self._course
        unsolved = self._stopped_by if self.stop_reason == "model_length" else None
        known = course.successes(self._made_spec, unsolved=unsolved)
        successes: list[bool | None] = [*known]
        success: bool | None = course.is_success(known) and unsolved is None
        if self._error is not None:
            successes = [None] * len(known)
            success = None
        outcomes = course.outcomes(
            [(asked.name, asked.position) for asked in self._policies],
            successes,
            is_terminated=self.stop_reason == "terminated",
            rewrites=[side.conversation.rewrites_history for side in self._sides],
        )
        names = dict.fromkeys(asked.name for asked in self._policies)
        return replace(
            super().record(", ".join(names), duration_s),
            total_reward=math.fsum(course.totals),
            success=success,
            format=SEATED_FORMAT,
            rewrites_history=False,
            seats=outcomes,
            stopped_by=self._stopped_by,
        )
