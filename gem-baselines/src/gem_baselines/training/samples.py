"""A sample of one update: what was played, how it was credited, and what the policy learnt from.

It is for whoever wants to know whether a training does what it says; `gem-env doctor` reads it.
Nothing of a training depends on it: it asks the policy, and changes nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gem.episode import Episode
from gem_baselines.learning_policy import Batch, Floats, LearningPolicy, LearntRow, Per
from gem_baselines.training.advantages import Values, start_of
from gem_baselines.training.experiment import Experiment

__all__ = ["MOST_EPISODES", "Sample", "episode_in_numbers", "is_sampled", "record_of"]

MOST_EPISODES = 16
"""Shown of one update, in whole groups; of a larger group all are shown."""
_SAMPLES = 20


def is_sampled(experiment: Experiment, update: int) -> bool:
    """Say whether an update, from 1 on, leaves a sample."""
    every = experiment.sample_every
    if every is None:
        every = max(1, experiment.updates // _SAMPLES)
    return every > 0 and (update in (1, experiment.updates) or update % every == 0)


class Sample:
    """What is noted of one update, in the order in which it happens."""

    def __init__(self, update: int, baseline: float) -> None:
        self._update = update
        self._baseline = baseline
        self._values: Sequence[Floats] | None = None
        self._batch = Batch((), ())
        self._shown: list[int] = []
        self._before: Sequence[LearntRow] | None = None
        self._after: Sequence[LearntRow] | None = None

    def noting(self, values: Values) -> Values:
        """Return a function that gives what `values` gives, and notes it."""

        def noted(episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]:
            # A copy: the policy may go on to change what it gave.
            found = [np.array(own, np.float64) for own in values(episodes, per=per)]
            self._values = found
            return found

        return noted

    def note_before(self, policy: LearningPolicy, batch: Batch) -> None:
        """Note the batch, and what the policy has of it before it learns."""
        self._batch = batch
        self._shown = _shown(batch.episodes)
        self._before = _learnt_from(policy, batch, self._shown)

    def note_after(self, policy: LearningPolicy, batch: Batch) -> None:
        """Note what the policy has of the same batch once it has learnt."""
        self._after = _learnt_from(policy, batch, self._shown)

    def numbers(self, played: Sequence[Episode]) -> dict[str, Any]:
        """Return the whole update in numbers, as JSON data: an entry for each episode played.

        `is_learnt` is False of those that the batch was made without.
        """
        numbers_in_batch = {_key(episode): n for n, episode in enumerate(self._batch.episodes)}
        return {
            "update": self._update,
            "baseline": self._baseline,
            "episodes": [
                {**episode_in_numbers(episode), **self._credit(numbers_in_batch.get(_key(episode)))}
                for episode in played
            ],
        }

    def lines(self) -> list[dict[str, Any]]:
        """Return an entry for each episode that is shown, as JSON data."""
        return [
            {
                "update": self._update,
                "number": number,
                "episode": record_of(self._batch.episodes[number]),
                **self._credit(number),
                "rows": self._rows(number),
            }
            for number in self._shown
        ]

    def _credit(self, number: int | None) -> dict[str, Any]:
        if number is None:
            return {"is_learnt": False}
        batch = self._batch
        targets = batch.value_targets
        return {
            "is_learnt": True,
            "advantages": _plain(batch.advantages[number]),
            "values": None if self._values is None else _plain(self._values[number]),
            "value_targets": None if targets is None else _plain(targets[number]),
        }

    def _rows(self, number: int) -> list[dict[str, Any]] | None:
        if self._before is None or self._after is None:
            return None
        return [
            {
                "ids": None if row.ids is None else [int(token) for token in row.ids],
                "places": [int(place) for place in row.places],
                "advantages": _plain(row.advantages),
                "sampler": None if row.sampler is None else _plain(row.sampler),
                "learner": _plain(row.learner),
                "learner_after": _plain(after.learner),
                "entropies": None if row.entropies is None else _plain(row.entropies),
            }
            for row, after in zip(self._before, self._after, strict=True)
            if row.episode == number
        ]


def _key(episode: Episode) -> tuple[int, ...]:
    return (*start_of(episode), episode.repeat)


def record_of(episode: Episode) -> Any:
    """Return an episode as JSON data: a seat's part as the record of one seat that it is."""
    alone = replace(episode, seats=(), stopped_by=None) if episode.seats else episode
    return json.loads(alone.to_json())


def _shown(episodes: Sequence[Episode]) -> list[int]:
    """Return the numbers of the episodes that are shown: the first groups, each whole."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, episode in enumerate(episodes):
        groups.setdefault(start_of(episode), []).append(number)
    shown: list[int] = []
    for members in groups.values():
        if shown and len(shown) + len(members) > MOST_EPISODES:
            break
        shown += members
    return sorted(shown)


def _learnt_from(
    policy: LearningPolicy, batch: Batch, shown: Sequence[int]
) -> Sequence[LearntRow] | None:
    """Ask the policy what it learns from, if it is one that says so."""
    ask = getattr(policy, "learnt_from", None)
    if ask is None:
        return None
    found: Sequence[LearntRow] = ask(batch, shown)
    return found


def episode_in_numbers(episode: Episode) -> Mapping[str, Any]:
    """Return an episode in numbers. Its answers are counted in tokens where they have any."""
    has_tokens = all(turn.mask is not None for turn in episode.turns)
    return {
        "start": list(start_of(episode)),
        "repeat": episode.repeat,
        "seed": episode.seed,
        "task": episode.task,
        "stop_reason": episode.stop_reason,
        "success": episode.success,
        "rewards": [float(turn.reward) for turn in episode.turns],
        "answer_tokens": [sum(turn.mask or ()) for turn in episode.turns] if has_tokens else None,
        "cut_answers": sum(turn.finish_reason == "length" for turn in episode.turns),
    }


def _plain(numbers: Iterable[float]) -> list[float | None]:
    """Return floats for JSON, each read again as just that one; None where one is not finite."""
    return [float(number) if math.isfinite(number) else None for number in numbers]
