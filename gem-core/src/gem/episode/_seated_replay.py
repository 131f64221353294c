"""Take the recorded actions of an episode of several seats again, and compare by seat.

Knows nothing about how the environment is made again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gem.content import Action, Observation, observation_to_json
from gem.env._env import Env
from gem.episode._ending import ending_differences
from gem.episode._episode import Episode
from gem.episode._seats import SeatedCourse
from gem.episode._turn import Turn

__all__ = ["SeatedReplay"]

FieldDifference = tuple[str, Any, Any]
"""A field, what is on record of it, and what it is now."""


class SeatedReplay:
    """One episode that is taken again. `turn` is the number of the turn that is compared."""

    def __init__(self, episode: Episode, env: Env) -> None:
        self._episode = episode
        self._env = env
        self._course = SeatedCourse(env.seats)
        self._last_observation: Observation = ""
        self.turn = 0

    def differences(self, actions: Iterator[Action]) -> Iterator[FieldDifference]:
        """Reset, take the actions in order, and yield each difference as soon as it shows."""
        episode = self._episode
        names = tuple(outcome.name for outcome in episode.seats)
        if names != self._env.seats:
            yield "seats", names, self._env.seats
        options = {} if episode.task is None else {"task": episode.task}
        self._course.start(*self._env.reset(seed=episode.seed, **options))
        for self.turn, recorded in enumerate(episode.turns):
            yield from self._before(recorded)
            action = next(actions, None)
            if action is None:  # the turn that failed: it led to nothing
                return
            yield from self._after(recorded, action)
        if not episode.is_error:
            yield from self._at_the_end()

    def _before(self, recorded: Turn) -> Iterator[FieldDifference]:
        """Compare whose turn it is, and what that seat was shown."""
        course = self._course
        if recorded.seat != course.seat:
            yield "seat", recorded.seat, course.seat
        question = course.questions[course.seat]
        shown = None if question is None else observation_to_json(question)
        suffix = course.suffixes[course.seat]
        if recorded.suffix != suffix:
            yield "suffix", recorded.suffix, suffix
        if observation_to_json(recorded.observation) != shown:
            yield "observation", observation_to_json(recorded.observation), shown

    def _after(self, recorded: Turn, action: Action) -> Iterator[FieldDifference]:
        step = self._env.step(action)
        self._last_observation = step.observation
        replayed = recorded.answered(step, seats=len(self._course.names))
        outcome = replayed.outcome()
        for field, recorded_value in recorded.outcome().items():
            if recorded_value != outcome[field]:
                yield field, recorded_value, outcome[field]
        self._course.pay(replayed.rewards or ())
        self._course.take(step)

    def _at_the_end(self) -> Iterator[FieldDifference]:
        """Compare what an evaluation counts, and what each seat was shown last."""
        episode = self._episode
        yield from ending_differences(episode)
        spec = self._env.spec
        unsolved = episode.stopped_by if episode.stop_reason == "model_length" else None
        successes = self._course.successes(spec, unsolved=unsolved)
        outcomes = self._course.outcomes(
            [(outcome.policy, outcome.policy_index) for outcome in episode.seats],
            successes,
            is_terminated=episode.terminated,
            rewrites=[outcome.rewrites_history for outcome in episode.seats],
        )
        for recorded, replayed in zip(episode.seats, outcomes, strict=True):
            values = replayed.reproduced()
            for field, recorded_value in recorded.reproduced().items():
                if recorded_value != values[field]:
                    yield f"{field} of {recorded.name}", recorded_value, values[field]
        success = self._course.is_success(successes)
        if episode.success != success:
            yield "success", episode.success, success
        yield from self._of_all()

    def _of_all(self) -> Iterator[FieldDifference]:
        """Compare what the record repeats of its seats: their sum, and what was shown last."""
        episode = self._episode
        total = math.fsum(self._course.totals)
        if episode.total_reward != total:
            yield "total_reward", episode.total_reward, total
        recorded = observation_to_json(episode.final_observation or "")
        question = self._course.questions[self._course.seat]
        # A rollout keeps the question that is left open, the wrapper `record` the last observation.
        shown = [observation_to_json(each) for each in (question or "", self._last_observation)]
        if recorded not in shown:
            yield "observation", recorded, shown[0]
