"""Take the recorded actions of an episode of several seats again, and compare by seat.

Knows nothing about how the environment is made again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from gem.content import Action, Observation, observation_to_json
from gem.env._env import Env
from gem.episode._differences import Difference, ending_differences, field_differences
from gem.episode._episode import Episode
from gem.episode._seats import SeatedCourse
from gem.episode._turn import Turn

__all__ = ["SeatedReplay"]


class SeatedReplay:
    """One episode that is taken again. `turn` is the number of the turn that is compared."""

    def __init__(self, episode: Episode, env: Env) -> None:
        self._episode = episode
        self._env = env
        self._course = SeatedCourse(env.seats)
        self._last_observation: Observation = ""
        self.turn = 0

    def differences(self, actions: Iterator[Action]) -> Iterator[Difference]:
        """Reset, take the actions in order, and yield each difference as soon as it shows."""
        episode = self._episode
        names = tuple(outcome.name for outcome in episode.seats)
        if names != self._env.seats:
            yield Difference(0, "seats", names, self._env.seats)
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

    def _before(self, recorded: Turn) -> Iterator[Difference]:
        """Compare whose turn it is, and what that seat was shown."""
        seat = self._course.seat
        question = self._course.questions[seat]
        yield from field_differences(
            self.turn,
            {
                "seat": recorded.seat,
                "suffix": recorded.suffix,
                "observation": observation_to_json(recorded.observation),
            },
            {
                "seat": seat,
                "suffix": self._course.suffixes[seat],
                "observation": None if question is None else observation_to_json(question),
            },
        )

    def _after(self, recorded: Turn, action: Action) -> Iterator[Difference]:
        step = self._env.step(action)
        self._last_observation = step.observation
        replayed = recorded.answered(step, seats=len(self._course.names))
        yield from field_differences(self.turn, recorded.outcome(), replayed.outcome())
        self._course.pay(replayed.rewards or ())
        self._course.take(step)

    def _at_the_end(self) -> Iterator[Difference]:
        """Compare what an evaluation counts, and what each seat was shown last."""
        episode = self._episode
        yield from ending_differences(self.turn, episode)
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
            yield from field_differences(
                self.turn,
                recorded.reproduced(),
                replayed.reproduced(),
                whose=f" of {recorded.name}",
            )
        # What the record repeats of its seats.
        yield from field_differences(
            self.turn,
            {"success": episode.success, "total_reward": episode.total_reward},
            {
                "success": self._course.is_success(successes),
                "total_reward": math.fsum(self._course.totals),
            },
        )
        recorded = observation_to_json(episode.final_observation or "")
        question = self._course.questions[self._course.seat]
        # A rollout keeps the question that is left open, the wrapper `record` the last observation.
        shown = [observation_to_json(each) for each in (question or "", self._last_observation)]
        if recorded not in shown:
            yield Difference(self.turn, "observation", recorded, shown[0])
